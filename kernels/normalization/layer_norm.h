// Normalization over the last axis: layer normalization and RMSNorm,
//
//   y = (s - mean(s)) / sqrt(variance(s) + epsilon) * gamma + beta
//   y = s / sqrt(mean(s^2) + epsilon) * gamma
//
// with s = x, or x + residual (each may broadcast to the other's shape).
#ifndef TENON_KERNELS_NORMALIZATION_LAYER_NORM_H_
#define TENON_KERNELS_NORMALIZATION_LAYER_NORM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: x, possibly the residual, gamma, beta; outputs: y, and s if there is a residual.
// Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> LayerNormReference(PrepareContext& p);
// float and bfloat16, without broadcasting.
absl::StatusOr<std::unique_ptr<Kernel>> LayerNormVector(PrepareContext& p);

// The same without beta.
absl::StatusOr<std::unique_ptr<Kernel>> RmsNormReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> RmsNormVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_LAYER_NORM_H_
