// Local response normalization over the last axis, the channels, and its gradient. With
// N[c] = bias + alpha * sum(x[k]^2, |k - c| <= depth_radius):
//
//   y = x N^-beta
//   x_backprop[c] = dy[c] N[c]^-beta - 2 alpha beta x[c] sum(dy[k] y[k] / N[k], |k - c| <= radius)
#ifndef TENON_KERNELS_NORMALIZATION_LRN_H_
#define TENON_KERNELS_NORMALIZATION_LRN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: x; or, for the gradient, dy, x and y. All have the same shape, with rank 4.
enum class LrnDirection { kForward, kGradient };

// float, half and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> LrnReference(PrepareContext& p, LrnDirection direction);
// float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> LrnVector(PrepareContext& p, LrnDirection direction);

// Kernel factories.
template <LrnDirection kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> LrnReference(PrepareContext& p) {
  return LrnReference(p, kDirection);
}
template <LrnDirection kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> LrnVector(PrepareContext& p) {
  return LrnVector(p, kDirection);
}

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_LRN_H_
