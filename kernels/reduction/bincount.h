// Counts of small non-negative integers, or sums of the weights at their places. Numbers beyond the
// bins are left out.
#ifndef TENON_KERNELS_REDUCTION_BINCOUNT_H_
#define TENON_KERNELS_REDUCTION_BINCOUNT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"

namespace tenon {

// What row of the output a number counts for: the only one, that of its row in a matrix, that of
// the splits around its place, or that of its coordinates' first one.
enum class BinRows { kOne, kDense, kSplits, kCoordinates };

// Inputs: [splits or coordinates], the numbers, [dense_shape], the number of bins, weights (of the
// numbers' shape, or empty). Attribute binary_output: 1 in place of counts. Output int32, int64,
// float or double; its shape must be complete. InvalidArgument on numbers below 0, coordinates that
// do not fit, and, at Run, splits that do not.
absl::StatusOr<std::unique_ptr<Kernel>> Bincount(PrepareContext& p, BinRows how);

// Bincount as a kernel factory; a number of bins that Prepare does not know is read at Run.
template <BinRows kHow>
absl::StatusOr<std::unique_ptr<Kernel>> Bincount(PrepareContext& p) {
  if (p.output_shape(0).IsComplete()) return Bincount(p, kHow);
  return PrepareLate(p, Bincount<kHow>,
                     kHow == BinRows::kCoordinates ? std::vector<int>{2, 3}
                     : kHow == BinRows::kSplits    ? std::vector<int>{2}
                                                   : std::vector<int>{1});
}

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_BINCOUNT_H_
