// Non-maximum suppression: indices of boxes in descending order of score, without those that
// overlap a selected one.
#ifndef TENON_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_
#define TENON_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The content of input 0: boxes, [n, 4], or their overlaps, [n, n].
enum class SuppressionInput { kBoxes, kOverlaps };

// Further inputs: scores [n], the maximum number of selected boxes, and possibly the thresholds of
// overlap and score, and sigma; if it is above 0, scores decay with overlap instead (soft-NMS).
// Outputs: indices, possibly their scores, possibly the number of valid ones. float and half.
// InvalidArgument at Run for parameters out of range.
absl::StatusOr<std::unique_ptr<Kernel>> NonMaxSuppression(PrepareContext& p,
                                                          SuppressionInput input);

// NonMaxSuppression as a kernel factory.
template <SuppressionInput kInput>
absl::StatusOr<std::unique_ptr<Kernel>> NonMaxSuppression(PrepareContext& p) {
  return NonMaxSuppression(p, kInput);
}

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_
