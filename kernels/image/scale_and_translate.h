// Resamples images, [batch, height, width, channels], with a separable kernel (attribute
// kernel_type: Lanczos, Gaussian, cubic ...) and a scale and a shift per axis.
#ifndef TENON_KERNELS_IMAGE_SCALE_AND_TRANSLATE_H_
#define TENON_KERNELS_IMAGE_SCALE_AND_TRANSLATE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: images of real numbers, the output's size, scales and shifts (rows, columns; float).
// Output: float. InvalidArgument for an unknown kernel_type and, at Run, for scales that are not
// positive.
absl::StatusOr<std::unique_ptr<Kernel>> ScaleAndTranslate(PrepareContext& p);

// The images' gradient: inputs are the output's gradient, the images, scales and shifts, all float.
absl::StatusOr<std::unique_ptr<Kernel>> ScaleAndTranslateGrad(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_SCALE_AND_TRANSLATE_H_
