// Products so small that oneDNN's overhead takes longer than its loops, and those of a matrix and a
// vector, of any size.
#ifndef TENON_KERNELS_MATMUL_SMALL_PRODUCT_H_
#define TENON_KERNELS_MATMUL_SMALL_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/matmul.h"

namespace tenon {

// Multiplies the node's inputs `src` and `weights` as described in `problem`, and applies `fused`
// to the result. Unimplemented if oneDNN is as fast.
absl::StatusOr<std::unique_ptr<Kernel>> SmallProductKernel(const PrepareContext& p,
                                                           const MatmulProblem& problem, int src,
                                                           int weights, const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_SMALL_PRODUCT_H_
