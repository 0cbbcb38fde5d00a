// SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2, StatelessSampleDistortedBoundingBox:
// random crops that cover enough of an object.
#include "kernels/random/distorted_box.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DistortedBoxShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CropLimits::Of(c.attrs()).status());
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 3));
  if (c.num_inputs() > 2) TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  const auto expect = [&c](int i, const Shape& shape) -> absl::Status {
    if (shape.CompatibleWith(c.input(i))) return absl::OkStatus();
    return InvalidArgument("input ", i, " must have shape ", shape.ToString(), ", but has ",
                           c.input(i).ToString());
  };
  TENON_RETURN_IF_ERROR(expect(0, Shape({3})));
  TENON_RETURN_IF_ERROR(expect(1, Shape({-1, -1, 4})));
  if (c.num_inputs() > 3) TENON_RETURN_IF_ERROR(expect(3, Shape({2})));
  c.set_output(0, Shape({3}));
  c.set_output(1, Shape({3}));
  c.set_output(2, Shape({1, 1, 4}));
  return absl::OkStatus();
}

constexpr char kBoxOutputs[] = "begin: T, size: T, bboxes: float";

const OpRegistration distorted_box({
    .name = "SampleDistortedBoundingBox",
    .inputs = "image_size: T, bounding_boxes: float",
    .outputs = kBoxOutputs,
    .attrs = "T: type; seed: int = 0; seed2: int = 0; min_object_covered: float = 0.1; "
             "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1]; "
             "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false",
    .types = "T: uint8 int8 int16 int32 int64",
    .shape = DistortedBoxShape,
    .reference = DistortedBox,
    .stateful = true,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration distorted_box_v2({
    .name = "SampleDistortedBoundingBoxV2",
    .inputs = "image_size: T, bounding_boxes: float, min_object_covered: float",
    .outputs = kBoxOutputs,
    .attrs = "T: type; seed: int = 0; seed2: int = 0; "
             "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1]; "
             "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false",
    .types = "T: uint8 int8 int16 int32 int64",
    .shape = DistortedBoxShape,
    .reference = DistortedBox,
    .stateful = true,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration stateless_distorted_box({
    .name = "StatelessSampleDistortedBoundingBox",
    .inputs = "image_size: T, bounding_boxes: float, min_object_covered: float, seed: Tseed",
    .outputs = kBoxOutputs,
    .attrs = "T: type; Tseed: type; aspect_ratio_range: list(float) = [0.75, 1.33]; "
             "area_range: list(float) = [0.05, 1]; max_attempts: int = 100; "
             "use_image_if_no_bounding_boxes: bool = false",
    .types = "T: uint8 int8 int16 int32 int64; Tseed: int32 int64",
    .shape = DistortedBoxShape,
    .reference = DistortedBox,
    .discontinuous = true,
    .error_bound = ErrorBound::kOneRounding,
});

}  // namespace
}  // namespace tenon
