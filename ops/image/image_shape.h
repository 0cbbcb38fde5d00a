// Shapes of images [N, H, W, C] that are resized.
#ifndef TENON_OPS_IMAGE_IMAGE_SHAPE_H_
#define TENON_OPS_IMAGE_IMAGE_SHAPE_H_

#include "absl/status/status.h"
#include "ops/shape_fn.h"

namespace tenon {

// InvalidArgument: the height or width is 0.
absl::Status CheckPixels(const Shape& image);

// InvalidArgument: the attributes align_corners and half_pixel_centers are both set.
absl::Status CheckResizeFlags(const ShapeContext& c);

// Output 0: like `image` with the height and width that an input, a vector of 2, says; unknown
// where its value is. InvalidArgument: a size that is not positive, or too many elements.
absl::Status SetResized(ShapeContext& c, const Shape& image, int size_input = 1);

}  // namespace tenon

#endif  // TENON_OPS_IMAGE_IMAGE_SHAPE_H_
