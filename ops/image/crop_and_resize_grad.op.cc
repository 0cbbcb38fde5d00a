// CropAndResizeGradImage, CropAndResizeGradBoxes: gradients of CropAndResize with respect to the
// image and to the boxes.
#include "kernels/image/crop_and_resize_grad.h"

#include "kernels/interface/axis.h"
#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CheckCrops(ShapeContext& c, int boxes, int indices) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(boxes, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(indices, 1));
  const Shape& grads = c.input(0);
  if (grads.has_rank() && (grads.dim(1) == 0 || grads.dim(2) == 0)) {
    return InvalidArgument("crops without pixels");
  }
  const int64_t n = grads.has_rank() ? grads.dim(0) : -1;
  if (!Shape({n, 4}).CompatibleWith(c.input(boxes))) {
    return InvalidArgument("boxes of shape ", c.input(boxes).ToString(), " for ", n, " crops");
  }
  if (!Shape({n}).CompatibleWith(c.input(indices))) {
    return InvalidArgument("box_ind of shape ", c.input(indices).ToString(), " for ", n, " crops");
  }
  return absl::OkStatus();
}

absl::Status ImageGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckCrops(c, 1, 2));
  if (!c.input(3).CompatibleWith(Shape({4}))) {
    return InvalidArgument("image_size must be a vector of 4, but has shape ",
                           c.input(3).ToString());
  }
  c.set_output(0, Shape::UnknownOfRank(4));
  if (c.value(3) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(3)));
  if (size[0] < 0 || size[1] <= 0 || size[2] <= 0 || size[3] < 0) {
    return InvalidArgument("image_size has dimensions that are not positive");
  }
  if (c.input(0).has_rank() && c.input(0).dim(3) >= 0 && c.input(0).dim(3) != size[3]) {
    return InvalidArgument("crops of ", c.input(0).dim(3), " channels for images of ", size[3]);
  }
  Shape out(size);
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status BoxesGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckCrops(c, 2, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 4));
  const Shape &grads = c.input(0), &image = c.input(1);
  TENON_RETURN_IF_ERROR(CheckPixels(image));
  if (grads.has_rank() && image.has_rank() &&
      !Shape({-1, -1, -1, grads.dim(3)}).CompatibleWith(image)) {
    return InvalidArgument("crops of shape ", grads.ToString(), " for images of shape ",
                           image.ToString());
  }
  c.set_output(0, Shape({grads.has_rank() ? grads.dim(0) : -1, 4}));
  return absl::OkStatus();
}

const OpRegistration image_grad_op({
    .name = "CropAndResizeGradImage",
    .inputs = "grads: float, boxes: float, box_ind: int32, image_size: int32",
    .outputs = "output: T",
    .attrs = "T: type; method: string = bilinear",
    .types = "T: float half double",
    .shape = ImageGradShape,
    .reference = CropAndResizeImageGrad,
});

const OpRegistration boxes_grad_op({
    .name = "CropAndResizeGradBoxes",
    .inputs = "grads: float, image: T, boxes: float, box_ind: int32",
    .outputs = "output: float",
    .attrs = "T: type; method: string = bilinear",
    .types = "T: uint8 uint16 int8 int16 int32 int64 half float double",
    .shape = BoxesGradShape,
    .reference = CropAndResizeBoxesGrad,
});

}  // namespace
}  // namespace tenon
