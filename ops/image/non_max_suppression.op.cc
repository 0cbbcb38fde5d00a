// NonMaxSuppression, V2 to V5, NonMaxSuppressionWithOverlaps: boxes by falling score, without those
// that overlap one already taken. V5 can lower scores instead (soft-NMS).
#include "kernels/image/suppression.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Outputs: indices, [scores,] [how many are valid].
absl::Status SuppressionShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  for (int i = 2; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  const bool overlaps = c.node().op == "NonMaxSuppressionWithOverlaps";
  if (c.input(0).has_rank()) {
    const int64_t n = c.input(0).dim(0), cols = c.input(0).dim(1);
    if (!overlaps && cols >= 0 && cols != 4) {
      return InvalidArgument("boxes must have 4 columns, but have ", cols);
    }
    if (overlaps && n >= 0 && cols >= 0 && n != cols) {
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

double ScalarAt(DType dtype, const void* data) {
  if (dtype == DType::kHalf) return static_cast<float>(*static_cast<const half*>(data));
  return *static_cast<const float*>(data);
}

absl::StatusOr<void*> Allocated(RunContext& run, int output, const Shape& planned, int64_t size) {
  if (planned.IsComplete()) return run.output(output);
  return run.AllocateOutput(output, Shape({size}));
}

absl::StatusOr<std::unique_ptr<Kernel>> Suppression(PrepareContext& p) {
  const bool overlaps = p.node().op == "NonMaxSuppressionWithOverlaps";
  const int inputs = p.num_inputs(), outputs = p.num_outputs();
  const float fixed_threshold = p.attrs().Float("iou_threshold", 0.5f);
  const bool pad = p.attrs().Bool("pad_to_max_output_size", false);
  const int64_t n = p.input_shape(0).dim(0);
  const Shape planned = p.output_shape(0);
  const DType threshold_type = inputs > 3 ? p.input_dtype(3) : DType::kFloat;
  return DispatchType(TypeList<float, half>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      SuppressionLimits<T> limits;
      limits.count = *run.input<int32_t>(2);
      if (limits.count < 0) return InvalidArgument("max_output_size must not be negative");
      const double threshold =
          inputs > 3 ? ScalarAt(threshold_type, run.input(3)) : double{fixed_threshold};
      if (!overlaps && !(threshold >= 0 && threshold <= 1)) {
        return InvalidArgument("iou_threshold must be in [0, 1], but is ", threshold);
      }
      limits.overlap = static_cast<T>(threshold);
      if (inputs > 4) limits.score = static_cast<T>(ScalarAt(threshold_type, run.input(4)));
      if (inputs > 5) {
        limits.sigma = *run.input<T>(5);
        if (limits.sigma < T(0)) return InvalidArgument("soft_nms_sigma must not be negative");
      }
      const T* boxes = run.input<T>(0);
      auto overlap = [=](int64_t a, int64_t b) {
        return overlaps ? boxes[a * n + b] : Overlap(boxes + 4 * a, boxes + 4 * b);
      };
      const std::vector<Selected<T>> selected = Select(run.input<T>(1), n, limits, overlap);
      const int64_t valid = static_cast<int64_t>(selected.size());
      const int64_t size = pad ? limits.count : valid;
      TENON_ASSIGN_OR_RETURN(void* indices, Allocated(run, 0, planned, size));
      for (int64_t i = 0; i < size; ++i) {
        static_cast<int32_t*>(indices)[i] =
            i < valid ? static_cast<int32_t>(selected[static_cast<size_t>(i)].index) : 0;
      }
      if (outputs == 3) {
        TENON_ASSIGN_OR_RETURN(void* scores, Allocated(run, 1, planned, size));
        for (int64_t i = 0; i < size; ++i) {
          static_cast<T*>(scores)[i] = i < valid ? selected[static_cast<size_t>(i)].score : T(0);
        }
      }
      if (outputs > 1) *run.output<int32_t>(outputs - 1) = static_cast<int32_t>(valid);
      return absl::OkStatus();
    });
  });
}

const OpRegistration non_max_suppression_op({
    .name = "NonMaxSuppression",
    .inputs = "boxes: float, scores: float, max_output_size: int32",
    .outputs = "selected_indices: int32",
    .attrs = "iou_threshold: float = 0.5",
    .shape = SuppressionShape,
    .reference = Suppression,
});

const OpRegistration non_max_suppression_v2_op({
    .name = "NonMaxSuppressionV2",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold",
    .outputs = "selected_indices: int32",
    .attrs = "T: type = float; T_threshold: type = float",
    .types = "T: half float; T_threshold: half float",
    .shape = SuppressionShape,
    .reference = Suppression,
});

const OpRegistration non_max_suppression_v3_op({
    .name = "NonMaxSuppressionV3",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
              "score_threshold: T_threshold",
    .outputs = "selected_indices: int32",
    .attrs = "T: type = float; T_threshold: type = float",
    .types = "T: half float; T_threshold: half float",
    .shape = SuppressionShape,
    .reference = Suppression,
});

const OpRegistration non_max_suppression_v4_op({
    .name = "NonMaxSuppressionV4",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
              "score_threshold: T_threshold",
    .outputs = "selected_indices: int32, valid_outputs: int32",
    .attrs = "T: type = float; T_threshold: type = float; pad_to_max_output_size: bool = false",
    .types = "T: half float; T_threshold: half float",
    .shape = SuppressionShape,
    .reference = Suppression,
});

const OpRegistration non_max_suppression_v5_op({
    .name = "NonMaxSuppressionV5",
    .inputs = "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
              "soft_nms_sigma: T",
    .outputs = "selected_indices: int32, selected_scores: T, valid_outputs: int32",
    .attrs = "T: type = float; pad_to_max_output_size: bool = false",
    .types = "T: half float",
    .shape = SuppressionShape,
    .reference = Suppression,
});

const OpRegistration non_max_suppression_with_overlaps_op({
    .name = "NonMaxSuppressionWithOverlaps",
    .inputs = "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
              "score_threshold: float",
    .outputs = "selected_indices: int32",
    .shape = SuppressionShape,
    .reference = Suppression,
});

}  // namespace
}  // namespace tenon
