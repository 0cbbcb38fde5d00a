// CropAndResize: cuts boxes out of images and resizes them, bilinearly or by the nearest pixel.
#include "kernels/image/crop_and_resize.h"

#include "kernels/interface/axis.h"
#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CropShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 1));
  const Shape& image = c.input(0);
  TENON_RETURN_IF_ERROR(CheckPixels(image));
  const int64_t boxes = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
  if (!Shape({boxes, 4}).CompatibleWith(c.input(1))) {
    return InvalidArgument("boxes of shape ", c.input(1).ToString(), " for ", boxes, " indices");
  }
  Shape out({boxes, -1, -1, image.has_rank() ? image.dim(3) : -1});
  if (c.value(3) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(3)));
    if (size.size() != 2 || size[0] <= 0 || size[1] <= 0) {
      return InvalidArgument("crop_size must be two positive numbers");
    }
    out.set_dim(1, size[0]);
    out.set_dim(2, size[1]);
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration crop_and_resize_op({
    .name = "CropAndResize",
    .inputs = "image: T, boxes: float, box_ind: int32, crop_size: int32",
    .outputs = "crops: float",
    .attrs = "T: type; method: string = bilinear; extrapolation_value: float = 0.0",
    .types = "T: uint8 uint16 int8 int16 int32 int64 half float double",
    .shape = CropShape,
    .reference = CropAndResize,
    .error_bound = ErrorBound::kImagePositions,
});

}  // namespace
}  // namespace tenon
