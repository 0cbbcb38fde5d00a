// ResizeBilinearGrad, ResizeNearestNeighborGrad, ResizeBicubicGrad: each gradient is distributed to
// the pixels from which the output was computed, with their weights.
#include "kernels/image/resize_grad.h"

#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: gradients, the original image.
absl::Status LikeImageShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckResizeFlags(c));
  for (int i : {0, 1}) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 4));
    TENON_RETURN_IF_ERROR(CheckPixels(c.input(i)));
  }
  const Shape &grads = c.input(0), &image = c.input(1);
  if (grads.has_rank() && image.has_rank() &&
      !Shape({grads.dim(0), -1, -1, grads.dim(3)}).CompatibleWith(image)) {
    return InvalidArgument("gradients of shape ", grads.ToString(), " for images of shape ",
                           image.ToString());
  }
  c.set_output(0, image.has_rank() ? image : Shape::UnknownOfRank(4));
  return absl::OkStatus();
}

// Inputs: gradients, the original image's height and width.
absl::Status OfSizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckResizeFlags(c));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(CheckPixels(c.input(0)));
  return SetResized(c, c.input(0));
}

const OpRegistration resize_bilinear_grad({
    .name = "ResizeBilinearGrad",
    .inputs = "grads: float, original_image: T",
    .outputs = "output: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: float bfloat16 half double",
    .shape = LikeImageShape,
    .reference = ResizeBilinearGrad,
});

const OpRegistration resize_nearest_neighbor_grad({
    .name = "ResizeNearestNeighborGrad",
    .inputs = "grads: T, size: int32",
    .outputs = "output: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: uint8 int8 int32 half float double bfloat16",
    .shape = OfSizeShape,
    .reference = ResizeNearestGrad,
});

const OpRegistration resize_bicubic_grad({
    .name = "ResizeBicubicGrad",
    .inputs = "grads: float, original_image: T",
    .outputs = "output: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: float double",
    .shape = LikeImageShape,
    .reference = ResizeBicubicGrad,
    .error_bound = ErrorBound::kImagePositions,
});

}  // namespace
}  // namespace tenon
