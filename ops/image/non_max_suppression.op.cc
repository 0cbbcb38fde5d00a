// NonMaxSuppression, V2 to V5, NonMaxSuppressionWithOverlaps: boxes in descending order of score,
// without those that overlap a selected one. V5 can lower scores instead (soft-NMS).
#include "kernels/image/non_max_suppression.h"

#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Outputs: indices, [scores,] [number of valid ones].
template <SuppressionInput kInput>
absl::Status SuppressionShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  for (int i = 2; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  if (c.input(0).has_rank()) {
    const int64_t n = c.input(0).dim(0), cols = c.input(0).dim(1);
    if (kInput == SuppressionInput::kBoxes && cols >= 0 && cols != 4) {
      return InvalidArgument("boxes must have 4 columns, but have ", cols);
    }
    if (kInput == SuppressionInput::kOverlaps && n >= 0 && cols >= 0 && n != cols) {
      return InvalidArgument("overlaps must be square, but have shape ", c.input(0).ToString());
    }
    if (!c.input(1).CompatibleWith(Shape({n}))) {
      return InvalidArgument("scores of shape ", c.input(1).ToString(), " for ", n, " boxes");
    }
  }
  int64_t size = -1;
  if (c.attrs().Bool("pad_to_max_output_size", false) && c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(size, ScalarInteger(*c.value(2), "max_output_size"));
    if (size < 0) return InvalidArgument("max_output_size must not be negative");
  }
  const int outputs = c.num_outputs();
  c.set_output(0, Shape({size}));
  if (outputs == 3) c.set_output(1, Shape({size}));
  if (outputs > 1) c.set_output(outputs - 1, Shape());
  return absl::OkStatus();
}

const OpRegistration non_max_suppression_op({
    .name = "NonMaxSuppression",
    .inputs = "boxes: float, scores: float, max_output_size: int32",
    .outputs = "selected_indices: int32",
    .attrs = "iou_threshold: float = 0.5",
    .shape = SuppressionShape<SuppressionInput::kBoxes>,
    .reference = NonMaxSuppression<SuppressionInput::kBoxes>,
});

const OpRegistration non_max_suppression_v2_op({
    .name = "NonMaxSuppressionV2",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold",
    .outputs = "selected_indices: int32",
    .attrs = "T: type = float; T_threshold: type = float",
    .types = "T: half float; T_threshold: half float",
    .shape = SuppressionShape<SuppressionInput::kBoxes>,
    .reference = NonMaxSuppression<SuppressionInput::kBoxes>,
});

const OpRegistration non_max_suppression_v3_op({
    .name = "NonMaxSuppressionV3",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
              "score_threshold: T_threshold",
    .outputs = "selected_indices: int32",
    .attrs = "T: type = float; T_threshold: type = float",
    .types = "T: half float; T_threshold: half float",
    .shape = SuppressionShape<SuppressionInput::kBoxes>,
    .reference = NonMaxSuppression<SuppressionInput::kBoxes>,
});

const OpRegistration non_max_suppression_v4_op({
    .name = "NonMaxSuppressionV4",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
              "score_threshold: T_threshold",
    .outputs = "selected_indices: int32, valid_outputs: int32",
    .attrs = "T: type = float; T_threshold: type = float; pad_to_max_output_size: bool = false",
    .types = "T: half float; T_threshold: half float",
    .shape = SuppressionShape<SuppressionInput::kBoxes>,
    .reference = NonMaxSuppression<SuppressionInput::kBoxes>,
});

const OpRegistration non_max_suppression_v5_op({
    .name = "NonMaxSuppressionV5",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
              "soft_nms_sigma: T",
    .outputs = "selected_indices: int32, selected_scores: T, valid_outputs: int32",
    .attrs = "T: type = float; pad_to_max_output_size: bool = false",
    .types = "T: half float",
    .shape = SuppressionShape<SuppressionInput::kBoxes>,
    .reference = NonMaxSuppression<SuppressionInput::kBoxes>,
    .error_bound = ErrorBound::kExponential,
});

const OpRegistration non_max_suppression_with_overlaps_op({
    .name = "NonMaxSuppressionWithOverlaps",
    .inputs = "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
              "score_threshold: float",
    .outputs = "selected_indices: int32",
    .shape = SuppressionShape<SuppressionInput::kOverlaps>,
    .reference = NonMaxSuppression<SuppressionInput::kOverlaps>,
});

}  // namespace
}  // namespace tenon
