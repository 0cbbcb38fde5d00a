// A kernel for rows and a constant matrix that fits in the caches, where oneDNN's kernels spend
// much of their time around their loops. With two threads of Zen 4: 64 rows of 96 and
// 96 floats 8.8 us with oneDNN, here 6.3; 12,544 of 32 and 16 97 and 66; 49 of 1024 and 128 71 and
// 65; from about 100 million operations on, up to 7 %.
#ifndef TENON_KERNELS_MATMUL_ROW_KERNEL_H_
#define TENON_KERNELS_MATMUL_ROW_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct RowsByMatrix {
  int64_t m = 0, n = 0, k = 0;
  bool transposed = false;  // input 1 is [n, k]
  size_t most_bytes = 0;    // of a matrix for which another kernel is not as fast
};

// Multiplies input 0, m dense rows, by input 1, and applies `fused`, whose operands by channel are
// by column. The output is dense. Few rows read the same form of the matrix. Unimplemented if input
// 1 is not constant, or too large.
absl::StatusOr<std::unique_ptr<Kernel>> RowKernel(PrepareContext& p, const RowsByMatrix& product,
                                                  const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_ROW_KERNEL_H_
