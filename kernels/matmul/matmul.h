// Kernels of matrix products over a LabeledProduct, plain or with fused ops.
#ifndef TENON_KERNELS_MATMUL_MATMUL_H_
#define TENON_KERNELS_MATMUL_MATMUL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/product.h"

namespace tenon {

// Inputs 0 and 1 are the product's operands (only 0 if it has one); `fused` is applied to output 0.
absl::StatusOr<std::unique_ptr<Kernel>> ProductReferenceKernel(PrepareContext& p,
                                                               LabeledProduct product,
                                                               const FusedOps& fused);
absl::StatusOr<std::unique_ptr<Kernel>> ProductOnednnKernel(PrepareContext& p,
                                                            LabeledProduct product, FusedOps fused);

// The node's `fused_ops`, or none if it has no such attribute.
absl::StatusOr<FusedOps> ProductFusedOps(const AttrReader& attrs, int num_inputs);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_MATMUL_H_
