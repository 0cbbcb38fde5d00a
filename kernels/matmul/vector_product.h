// Products whose operands share most dimensions of the output, such as dot products of many pairs
// of vectors, or a product without a sum. As matrices they would have one row or column.
#ifndef TENON_KERNELS_MATMUL_VECTOR_PRODUCT_H_
#define TENON_KERNELS_MATMUL_VECTOR_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/product.h"

namespace tenon {

// The loops that a product may take: dots if the terms of a sum are adjacent in both operands,
// elements if the results of a row are, and else scalar ones.
enum class VectorLoops { kAny, kDotsOrElements, kDots };

// Inputs 0 and 1 and the output are float. Unimplemented for others, if one operand is summed
// alone, for products that read each element many times, and if none of `loops` suits.
absl::StatusOr<std::unique_ptr<Kernel>> VectorProductKernel(PrepareContext& p,
                                                            const LabeledProduct& product,
                                                            const FusedOps& fused,
                                                            VectorLoops loops = VectorLoops::kAny);

// Whether it has no sum and one operand has all dimensions of the output.
bool IsElementwiseProduct(const LabeledProduct& product);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_VECTOR_PRODUCT_H_
