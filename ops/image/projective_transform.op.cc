// ImageProjectiveTransformV2, V3: images sampled through a projective map from output to input
// positions: (a0 x + a1 y + a2, b0 x + b1 y + b2) / (c0 x + c1 y + 1).
#include "kernels/image/projective_transform.h"

#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status TransformShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  const Shape &images = c.input(0), &transforms = c.input(1);
  if (!Shape({-1, 8}).CompatibleWith(transforms)) {
    return InvalidArgument("transforms must have 8 columns, but have shape ",
                           transforms.ToString());
  }
  if (images.has_rank() && transforms.has_rank() && images.dim(0) >= 0 && transforms.dim(0) >= 0 &&
      transforms.dim(0) != 1 && transforms.dim(0) != images.dim(0)) {
    return InvalidArgument(transforms.dim(0), " transforms for ", images.dim(0), " images");
  }
  if (c.num_inputs() > 3) TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  return SetResized(c, images, 2);
}

const OpRegistration image_projective_transform_v2({
    .name = "ImageProjectiveTransformV2",
    .inputs = "images: dtype, transforms: float, output_shape: int32",
    .outputs = "transformed_images: dtype",
    .attrs = "dtype: type; interpolation: string; fill_mode: string = CONSTANT",
    .types = "dtype: uint8 int32 int64 half bfloat16 float double",
    .shape = TransformShape,
    .reference = ProjectiveTransform,
});

const OpRegistration image_projective_transform_v3({
    .name = "ImageProjectiveTransformV3",
    .inputs = "images: dtype, transforms: float, output_shape: int32, fill_value: float",
    .outputs = "transformed_images: dtype",
    .attrs = "dtype: type; interpolation: string; fill_mode: string = CONSTANT",
    .types = "dtype: uint8 int32 int64 half bfloat16 float double",
    .shape = TransformShape,
    .reference = ProjectiveTransform,
});

}  // namespace
}  // namespace tenon
