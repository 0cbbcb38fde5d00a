#include "kernels/image/non_max_suppression.h"

#include <vector>

#include "kernels/image/suppression.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

double ScalarAt(DType dtype, const void* data) {
  if (dtype == DType::kHalf) return static_cast<float>(*static_cast<const half*>(data));
  return *static_cast<const float*>(data);
}

absl::StatusOr<void*> Allocated(RunContext& run, int output, const Shape& planned, int64_t size) {
  if (planned.IsComplete()) return run.output(output);
  return run.AllocateOutput(output, Shape({size}));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NonMaxSuppression(PrepareContext& p,
                                                          SuppressionInput input) {
  const bool overlaps = input == SuppressionInput::kOverlaps;
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

}  // namespace tenon
