// Color adjustments of images with channels last: hue, saturation, contrast.
#ifndef TENON_KERNELS_IMAGE_COLOR_H_
#define TENON_KERNELS_IMAGE_COLOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0: pixels with 3 channels, floating-point. Converts between red, green, blue and hue,
// saturation, value, each 0 to 1.
absl::StatusOr<std::unique_ptr<Kernel>> RgbToHsv(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> HsvToRgb(PrepareContext& p);

// For red, green, blue; input 1 is added to the hue, or multiplies the saturation.
absl::StatusOr<std::unique_ptr<Kernel>> AdjustHue(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> AdjustSaturation(PrepareContext& p);

// Images [..., height, width, channels], float or half: scales distances from each channel's mean
// by input 1. With inputs 2 and 3 the results, floats, are limited to this range; the images are
// then real numbers of up to 32 bits, or double.
absl::StatusOr<std::unique_ptr<Kernel>> AdjustContrast(PrepareContext& p);

// The same by vector code, on all threads. Contrast: without inputs 2 and 3; sums of pixels are
// rounded in another order. Unimplemented for double.
absl::StatusOr<std::unique_ptr<Kernel>> VectorRgbToHsv(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> VectorHsvToRgb(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> VectorAdjustHue(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> VectorAdjustSaturation(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> VectorAdjustContrast(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_COLOR_H_
