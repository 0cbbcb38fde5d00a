// Non-maximum suppression: indices of boxes by falling score, without those that overlap one
// already taken.
#ifndef TENON_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_
#define TENON_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// What input 0 holds: boxes, [n, 4], or their overlaps, [n, n].
enum class SuppressionInput { kBoxes, kOverlaps };

// Further inputs: scores [n], how many are taken at most, and perhaps the thresholds of overlap and
// score and sigma; above 0, scores fall with overlap instead (soft-NMS). Outputs: indices, perhaps
// their scores, perhaps how many are valid. float and half. InvalidArgument at Run on parameters
// out of range.
absl::StatusOr<std::unique_ptr<Kernel>> NonMaxSuppression(PrepareContext& p,
                                                          SuppressionInput input);

// NonMaxSuppression as a kernel factory.
template <SuppressionInput kInput>
absl::StatusOr<std::unique_ptr<Kernel>> NonMaxSuppression(PrepareContext& p) {
  return NonMaxSuppression(p, kInput);
}

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_NON_MAX_SUPPRESSION_H_
