// Cuts boxes out of images, [batch, height, width, channels], and resizes them to one size.
#ifndef TENON_KERNELS_IMAGE_CROP_AND_RESIZE_H_
#define TENON_KERNELS_IMAGE_CROP_AND_RESIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: images of real numbers, boxes (float), the boxes' images, the crops' size. Output: crops,
// float. Attribute method: bilinear or nearest; extrapolation_value: what is outside the image.
// InvalidArgument for another method and, at Run, for a box that is not finite or not of an image.
absl::StatusOr<std::unique_ptr<Kernel>> CropAndResize(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CROP_AND_RESIZE_H_
