// Samples images, [batch, height, width, channels], through a projective map from output to input
// positions: (a0 x + a1 y + a2, b0 x + b1 y + b2) / (c0 x + c1 y + 1).
#ifndef TENON_KERNELS_IMAGE_PROJECTIVE_TRANSFORM_H_
#define TENON_KERNELS_IMAGE_PROJECTIVE_TRANSFORM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: images, maps [batch or 1, 8] (float), the output's height and width, possibly the fill
// value. Attributes interpolation (NEAREST, BILINEAR) and fill_mode (REFLECT, WRAP, CONSTANT,
// NEAREST): InvalidArgument for others.
absl::StatusOr<std::unique_ptr<Kernel>> ProjectiveTransform(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_PROJECTIVE_TRANSFORM_H_
