// CombinedNonMaxSuppression: suppression per class and image, then the best boxes of all classes.
// Equal scores are in the order in which TensorFlow's heap and unstable sort leave them.
#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/image/suppression.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Sizes {
  int64_t batch, boxes, sharing, classes;  // sharing: 1 if all classes have the same boxes
};

absl::StatusOr<Sizes> SizesOf(const Shape& boxes, const Shape& scores) {
  const Sizes s{boxes.dim(0), boxes.dim(1), boxes.dim(2), scores.dim(2)};
  auto differ = [](int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; };
  if (differ(boxes.dim(3), 4) || differ(s.batch, scores.dim(0)) || differ(s.boxes, scores.dim(1)) ||
      (s.sharing != 1 && differ(s.sharing, s.classes))) {
    return InvalidArgument("boxes of shape ", boxes.ToString(), " for scores of shape ",
                           scores.ToString());
  }
  return s;
}

absl::Status CombinedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 3));
  for (int i = 2; i < 6; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  if (!c.input(0).has_rank() || !c.input(1).has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Sizes s, SizesOf(c.input(0), c.input(1)));
  int64_t total = -1;
  if (c.value(2) != nullptr && c.value(3) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t per_class, ScalarInteger(*c.value(2), "max_output_size"));
    TENON_ASSIGN_OR_RETURN(total, ScalarInteger(*c.value(3), "max_total_size"));
    if (per_class <= 0) return InvalidArgument("max_output_size_per_class must be positive");
    if (total <= 0) return InvalidArgument("max_total_size must be positive, but is ", total);
    if (c.attrs().Bool("pad_per_class", false)) {
      total = s.classes < 0 ? -1 : std::min(total, per_class * s.classes);
    }
  }
  c.set_output(0, Shape({s.batch, total, 4}));
  c.set_output(1, Shape({s.batch, total}));
  c.set_output(2, Shape({s.batch, total}));
  c.set_output(3, Shape({s.batch}));
  return absl::OkStatus();
}

struct Found {
  float score = std::numeric_limits<float>::lowest();
  int64_t group = 0;
  const float* box = nullptr;  // null: none, after all that were found
};

// Writes the boxes of class k that are selected in an image, and returns their number.
int64_t SelectOfClass(const Sizes& s, int64_t k, const float* boxes, const float* scores,
                      const SuppressionLimits<float>& limits, Found* found) {
  std::vector<float> of_class(static_cast<size_t>(s.boxes));
  for (int64_t i = 0; i < s.boxes; ++i)
    of_class[static_cast<size_t>(i)] = scores[i * s.classes + k];
  const auto box = [&](int64_t i) {
    return boxes + (i * s.sharing + (s.sharing == 1 ? 0 : k)) * 4;
  };
  const std::vector<Selected<float>> selected =
      Select(of_class.data(), s.boxes, limits,
             [&](int64_t i, int64_t j) { return Overlap(box(i), box(j)); });
  for (const Selected<float>& one : selected) *found++ = {one.score, k, box(one.index)};
  return std::ssize(selected);
}

absl::StatusOr<std::unique_ptr<Kernel>> Combined(PrepareContext& p) {
  if (p.value(2) == nullptr || p.value(3) == nullptr) return PrepareLate(p, Combined, {2, 3});
  TENON_ASSIGN_OR_RETURN(const Sizes s, SizesOf(p.input_shape(0), p.input_shape(1)));
  TENON_ASSIGN_OR_RETURN(const int64_t per_class, ScalarInteger(*p.value(2), "max_output_size"));
  const int64_t total = p.output_shape(1).dim(1);
  const bool clip = p.attrs().Bool("clip_boxes", true);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    SuppressionLimits<float> limits;
    limits.count = std::min(per_class, s.boxes);
    limits.overlap = *run.input<float>(4);
    limits.score = *run.input<float>(5);
    limits.lower_index_first = false;
    if (!(limits.overlap >= 0 && limits.overlap <= 1)) {
      return InvalidArgument("iou_threshold must be in [0, 1], but is ", limits.overlap);
    }
    for (int64_t b = 0; b < s.batch; ++b) {
      std::vector<Found> found(static_cast<size_t>(s.classes * limits.count));
      std::vector<int64_t> counts(static_cast<size_t>(s.classes));
      const float* const boxes = run.input<float>(0) + b * s.boxes * s.sharing * 4;
      const float* const scores = run.input<float>(1) + b * s.boxes * s.classes;
      ParallelFor(threads, s.classes, ParallelGrain(5.0 * static_cast<double>(s.boxes)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t k = begin; k < end; ++k) {
                      counts[static_cast<size_t>(k)] = SelectOfClass(
                          s, k, boxes, scores, limits, found.data() + k * limits.count);
                    }
                  });
      const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t{0});
      std::sort(found.begin(), found.end(),
                [](const Found& x, const Found& y) { return x.score > y.score; });
      const int64_t valid = std::min(total, count);
      for (int64_t i = 0; i < total; ++i) {
        const int64_t at = b * total + i;
        for (int64_t k = 0; k < 4; ++k) {
          const float v = i < valid ? found[static_cast<size_t>(i)].box[k] : 0;
          run.output<float>(0)[at * 4 + k] = clip ? std::clamp(v, 0.0f, 1.0f) : v;
        }
        run.output<float>(1)[at] = i < valid ? found[static_cast<size_t>(i)].score : 0;
        run.output<float>(2)[at] =
            i < valid ? static_cast<float>(found[static_cast<size_t>(i)].group) : 0;
      }
      run.output<int32_t>(3)[b] = static_cast<int32_t>(valid);
    }
    return absl::OkStatus();
  });
}

const OpRegistration combined_non_max_suppression_op({
    .name = "CombinedNonMaxSuppression",
    .inputs = "boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: "
              "int32, iou_threshold: float, score_threshold: float",
    .outputs =
        "nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, valid_detections: int32",
    .attrs = "pad_per_class: bool = false; clip_boxes: bool = true",
    .shape = CombinedShape,
    .reference = Combined,
});

}  // namespace
}  // namespace tenon
