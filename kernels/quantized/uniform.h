// TensorFlow's uniform quantized ops: real = (integer - zero point) * scale. A scale and a zero
// point belong to the whole tensor (axis -1), or each slice along an axis has its own.
#ifndef TENON_KERNELS_QUANTIZED_UNIFORM_H_
#define TENON_KERNELS_QUANTIZED_UNIFORM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: values, scales, zero_points.
absl::StatusOr<std::unique_ptr<Kernel>> UniformQuantizeKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> UniformDequantizeKernel(PrepareContext& p);
// Inputs: values, and scales and zero_points of the input and of the output.
absl::StatusOr<std::unique_ptr<Kernel>> UniformRequantizeKernel(PrepareContext& p);
// Inputs: operand, min, max (like scales), scales, zero_points.
absl::StatusOr<std::unique_ptr<Kernel>> UniformClipKernel(PrepareContext& p);
// Inputs: lhs, rhs, and scales and zero_points of lhs, rhs and the output.
absl::StatusOr<std::unique_ptr<Kernel>> UniformAddKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_UNIFORM_H_
