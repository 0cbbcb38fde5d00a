// Gradients of CropAndResize, which crops boxes of images, [batch, height, width, channels], and
// resizes them to one size. Attribute method: bilinear or nearest; InvalidArgument for others, and
// at Run for a box of an image that does not exist.
#ifndef TENON_KERNELS_IMAGE_CROP_AND_RESIZE_GRAD_H_
#define TENON_KERNELS_IMAGE_CROP_AND_RESIZE_GRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: the crops' gradients (float), boxes, the images' indices, the images' size. Output: the
// images' gradient, float, double or half.
absl::StatusOr<std::unique_ptr<Kernel>> CropAndResizeImageGrad(PrepareContext& p);

// Inputs: the crops' gradients (float), the images, boxes, the images' indices. Output: the boxes'
// gradient. Bilinear only.
absl::StatusOr<std::unique_ptr<Kernel>> CropAndResizeBoxesGrad(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CROP_AND_RESIZE_GRAD_H_
