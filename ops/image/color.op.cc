// RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation, AdjustContrast and AdjustContrastv2 of images
// with channels last.
#include "kernels/image/color.h"

#include "ops/op.h"

namespace tenon {
namespace {

template <int least_rank>
absl::Status ColorShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (c.num_inputs() > 1) TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  c.set_output(0, in);
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() < least_rank) {
    return InvalidArgument("images must have at least ", least_rank, " dimensions, but have shape ",
                           in.ToString());
  }
  const int64_t channels = in.dim(in.rank() - 1);
  if (channels >= 0 && channels != 3) {
    return InvalidArgument("images must have 3 channels, but have ", channels);
  }
  return absl::OkStatus();
}

absl::Status ContrastShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  c.set_output(0, c.input(0));
  if (c.input(0).has_rank() && c.input(0).rank() < 3) {
    return InvalidArgument("images must have at least 3 dimensions, but have shape ",
                           c.input(0).ToString());
  }
  return absl::OkStatus();
}

const OpRegistration rgb_to_hsv_op({
    .name = "RGBToHSV",
    .inputs = "images: T",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: half bfloat16 float double",
    .shape = ColorShape<1>,
    .reference = RgbToHsv,
    .accelerated = VectorRgbToHsv,
    .native = "_MklNativeRGBToHSV",
    .native_types = "half bfloat16 float",
    .error_bound = ErrorBound::kColor,
});

const OpRegistration hsv_to_rgb_op({
    .name = "HSVToRGB",
    .inputs = "images: T",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: half bfloat16 float double",
    .shape = ColorShape<1>,
    .reference = HsvToRgb,
    .accelerated = VectorHsvToRgb,
    .native = "_MklNativeHSVToRGB",
    .native_types = "half bfloat16 float",
    .error_bound = ErrorBound::kColor,
});

const OpRegistration adjust_hue_op({
    .name = "AdjustHue",
    .inputs = "images: T, delta: float",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: half float",
    .shape = ColorShape<3>,
    .reference = AdjustHue,
    .accelerated = VectorAdjustHue,
    .native = "_MklNativeAdjustHue",
    .native_types = "half float",
    .error_bound = ErrorBound::kColor,
});

const OpRegistration adjust_saturation_op({
    .name = "AdjustSaturation",
    .inputs = "images: T, scale: float",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: half float",
    .shape = ColorShape<3>,
    .reference = AdjustSaturation,
    .accelerated = VectorAdjustSaturation,
    .native = "_MklNativeAdjustSaturation",
    .native_types = "half float",
    .error_bound = ErrorBound::kColor,
});

const OpRegistration adjust_contrast_op({
    .name = "AdjustContrast",
    .inputs = "images: T, contrast_factor: float, min_value: float, max_value: float",
    .outputs = "output: float",
    .attrs = "T: type",
    .types = "T: uint8 int8 int16 int32 float double",
    .shape = ContrastShape,
    .reference = AdjustContrast,
    .error_bound = ErrorBound::kColor,
});

const OpRegistration adjust_contrastv2_op({
    .name = "AdjustContrastv2",
    .inputs = "images: T, contrast_factor: float",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: half float",
    .shape = ContrastShape,
    .reference = AdjustContrast,
    .accelerated = VectorAdjustContrast,
    .native = "_MklNativeAdjustContrastv2",
    .native_types = "half float",
    .error_bound = ErrorBound::kColor,
});

}  // namespace
}  // namespace tenon
