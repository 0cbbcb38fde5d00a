// ExtractGlimpse, ExtractGlimpseV2: a window of each image around an offset. Parts outside the
// image are filled with noise or zeros. Offsets are those of the window's center; in the second
// form, unless they are normalized and centered, those of its corner.
#include "kernels/image/glimpse.h"

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GlimpseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  const Shape &images = c.input(0), &offsets = c.input(2);
  const int64_t batch = images.has_rank() ? images.dim(0) : -1;
  if (!c.input(1).CompatibleWith(Shape({2}))) {
    return InvalidArgument("size must have 2 elements, but has shape ", c.input(1).ToString());
  }
  if (!offsets.CompatibleWith(Shape({batch, 2}))) {
    return InvalidArgument("offsets must be two for each of ", batch, " images, but have shape ",
                           offsets.ToString());
  }
  int64_t height = -1, width = -1;
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(1)));
    height = size[0];
    width = size[1];
    if (height < 0 || width < 0) {
      return InvalidArgument("size must not be negative, but is ", height, "x", width);
    }
  }
  Shape out({batch, height, width, images.has_rank() ? images.dim(3) : -1});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

constexpr char kInputs[] = "input: float, size: int32, offsets: float";
constexpr char kAttrs[] =
    "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; "
    "noise: string = uniform";

const OpRegistration extract_glimpse_op({
    .name = "ExtractGlimpse",
    .inputs = kInputs,
    .outputs = "glimpse: float",
    .attrs = kAttrs,
    .shape = GlimpseShape,
    .reference = Glimpse<GlimpseOffset::kMiddle>,
});

const OpRegistration extract_glimpse_v2_op({
    .name = "ExtractGlimpseV2",
    .inputs = kInputs,
    .outputs = "glimpse: float",
    .attrs = kAttrs,
    .shape = GlimpseShape,
    .reference = Glimpse<GlimpseOffset::kCorner>,
});

}  // namespace
}  // namespace tenon
