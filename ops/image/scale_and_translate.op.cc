// ScaleAndTranslate: images resampled with a separable kernel (Lanczos, Gaussian, cubic ...) with a
// scale and a shift per axis, and its gradient.
#include "kernels/image/scale_and_translate.h"

#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CheckImage(const Shape& image) {
  TENON_RETURN_IF_ERROR(CheckPixels(image));
  if (image.has_rank() && image.dim(3) == 0) return InvalidArgument("an image without channels");
  return absl::OkStatus();
}

absl::Status CheckPair(const ShapeContext& c, int i, const char* name) {
  if (c.input(i).CompatibleWith(Shape({2}))) return absl::OkStatus();
  return InvalidArgument(name, " must be a vector of 2, but has shape ", c.input(i).ToString());
}

absl::Status ForwardShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(CheckImage(c.input(0)));
  TENON_RETURN_IF_ERROR(CheckPair(c, 1, "size"));
  TENON_RETURN_IF_ERROR(CheckPair(c, 2, "scale"));
  TENON_RETURN_IF_ERROR(CheckPair(c, 3, "translation"));
  return SetResized(c, c.input(0));
}

absl::Status GradientShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 4));
  TENON_RETURN_IF_ERROR(CheckImage(c.input(0)));
  TENON_RETURN_IF_ERROR(CheckImage(c.input(1)));
  TENON_RETURN_IF_ERROR(CheckPair(c, 2, "scale"));
  TENON_RETURN_IF_ERROR(CheckPair(c, 3, "translation"));
  if (c.input(0).has_rank() && c.input(1).has_rank() &&
      !Shape({c.input(0).dim(0), -1, -1, c.input(0).dim(3)}).CompatibleWith(c.input(1))) {
    return InvalidArgument("gradients of shape ", c.input(0).ToString(), " for images of shape ",
                           c.input(1).ToString());
  }
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

const OpRegistration scale_and_translate({
    .name = "ScaleAndTranslate",
    .inputs = "images: T, size: int32, scale: float, translation: float",
    .outputs = "resized_images: float",
    .attrs = "T: type; kernel_type: string = lanczos3; antialias: bool = true",
    .types = "T: int8 uint8 int16 uint16 int32 int64 bfloat16 half float double",
    .shape = ForwardShape,
    .reference = ScaleAndTranslate,
});

const OpRegistration scale_and_translate_grad({
    .name = "ScaleAndTranslateGrad",
    .inputs = "grads: T, original_image: T, scale: float, translation: float",
    .outputs = "output: T",
    .attrs = "T: type; kernel_type: string = lanczos3; antialias: bool = true",
    .types = "T: float",
    .shape = GradientShape,
    .reference = ScaleAndTranslateGrad,
});

}  // namespace
}  // namespace tenon
