// Shape functions for resized images [N, H, W, C].
#ifndef TENON_OPS_IMAGE_IMAGE_SHAPE_H_
#define TENON_OPS_IMAGE_IMAGE_SHAPE_H_

#include "absl/status/status.h"
#include "ops/shape_fn.h"

namespace tenon {

// InvalidArgument if the height or width is 0.
absl::Status CheckPixels(const Shape& image);

// InvalidArgument if the attributes align_corners and half_pixel_centers are both set.
absl::Status CheckResizeFlags(const ShapeContext& c);

// Output 0: like `image` with the height and width from an input, a vector of 2; unknown if its
// value is. InvalidArgument for a size that is not positive, or too many elements.
absl::Status SetResized(ShapeContext& c, const Shape& image, int size_input = 1);

}  // namespace tenon

#endif  // TENON_OPS_IMAGE_IMAGE_SHAPE_H_
