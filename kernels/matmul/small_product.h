// Products so small that what comes before oneDNN's loops takes longer than they do.
#ifndef TENON_KERNELS_MATMUL_SMALL_PRODUCT_H_
#define TENON_KERNELS_MATMUL_SMALL_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/matmul.h"

namespace tenon {

// The node's inputs `src` and `weights` multiplied as `problem` says; there is nothing fused.
// Unimplemented where oneDNN is as fast.
absl::StatusOr<std::unique_ptr<Kernel>> SmallProductKernel(const MatmulProblem& problem, int src,
                                                           int weights);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_SMALL_PRODUCT_H_
