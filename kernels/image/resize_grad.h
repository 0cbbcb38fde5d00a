// Gradients of resizing images, [batch, height, width, channels]: each is distributed to the pixels
// from which the output was computed, with their weights. Attributes align_corners and
// half_pixel_centers as in resize.h.
#ifndef TENON_KERNELS_IMAGE_RESIZE_GRAD_H_
#define TENON_KERNELS_IMAGE_RESIZE_GRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: gradients (float), the original images. Output: floating-point, with input 1's dtype.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeBilinearGrad(PrepareContext& p);
// float and double.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeBicubicGrad(PrepareContext& p);

// Inputs: gradients, the original height and width. Floating-point dtypes, uint8, int8 and int32.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeNearestGrad(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_RESIZE_GRAD_H_
