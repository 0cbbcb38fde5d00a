// Products and convolutions of uniformly quantized operands (kernels/quantized/uniform.h). The
// hybrid ones quantize their first operand, floats, row by row (or image by image) as they run.
#ifndef TENON_KERNELS_QUANTIZED_UNIFORM_PRODUCTS_H_
#define TENON_KERNELS_QUANTIZED_UNIFORM_PRODUCTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/xla/conv.h"

namespace tenon {

// The convolution that the attributes describe, for operands of these shapes. Both ranks must be
// known. With unknown sizes the padding is that of the sizes that are known.
absl::StatusOr<ConvSpec> UniformConvSpec(const AttrReader& attrs, const Shape& lhs,
                                         const Shape& rhs);
// The shape of the result.
absl::StatusOr<Shape> UniformConvOutput(const ConvSpec& spec, const Shape& lhs, const Shape& rhs);

// Inputs: lhs, rhs, and scales and zero_points of lhs, rhs and the output. The result is quantized.
absl::StatusOr<std::unique_ptr<Kernel>> UniformDotKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> UniformConvKernel(PrepareContext& p);
// Inputs: lhs, rhs, and rhs's scales and zero_points. The result is not quantized.
absl::StatusOr<std::unique_ptr<Kernel>> UniformDotHybridKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> UniformConvHybridKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_UNIFORM_PRODUCTS_H_
