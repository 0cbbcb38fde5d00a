// Products whose operands or output must first be transposed so that strides can express them as
// matrices: "ibnd,jbnd->ijbn" of XLNet ends in a batch dimension. Or of which an operand must first
// be summed: "ijk,kl->l".
#ifndef TENON_KERNELS_MATMUL_REARRANGED_PRODUCT_H_
#define TENON_KERNELS_MATMUL_REARRANGED_PRODUCT_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/product.h"

namespace tenon {

// Prepares a product that needs no rearrangement.
using PrepareProductFn = std::function<absl::StatusOr<std::unique_ptr<Kernel>>(
    PrepareContext& p, const LabeledProduct& product, const FusedOps& fused)>;

// Transposes as few elements as necessary, before and after a kernel that `prepare` makes.
// Unimplemented if transposing does not help: diagonals, and sums over one operand alone.
absl::StatusOr<std::unique_ptr<Kernel>> RearrangedProductKernel(PrepareContext& p,
                                                                const LabeledProduct& product,
                                                                const FusedOps& fused,
                                                                ElementType type,
                                                                const PrepareProductFn& prepare);

// Products of which an operand has labels that neither the other one nor the output has: it is
// first summed over these. Unimplemented if there are none, of other types than float, and if the
// summed axes are not adjacent.
absl::StatusOr<std::unique_ptr<Kernel>> SummedOperandKernel(PrepareContext& p,
                                                            const LabeledProduct& product,
                                                            const FusedOps& fused,
                                                            const PrepareProductFn& prepare);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_REARRANGED_PRODUCT_H_
