// Einsum of one operand: a transpose, a sum, or both.
#ifndef TENON_KERNELS_MATMUL_ONE_OPERAND_H_
#define TENON_KERNELS_MATMUL_ONE_OPERAND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/product.h"

namespace tenon {

// Input 0 may be of any dtype if nothing is summed, else of float. Unimplemented for others, for
// two operands, diagonals, and sums over axes that are not adjacent, nor after a transpose.
absl::StatusOr<std::unique_ptr<Kernel>> OneOperandKernel(PrepareContext& p,
                                                         const LabeledProduct& product,
                                                         const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_ONE_OPERAND_H_
