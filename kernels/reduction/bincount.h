// Counts small non-negative integers, or sums the weights at their positions. Numbers beyond the
// bins are ignored.
#ifndef TENON_KERNELS_REDUCTION_BINCOUNT_H_
#define TENON_KERNELS_REDUCTION_BINCOUNT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"

namespace tenon {

// The output row in which a number counts: the only one; the number's row in a matrix; the one
// given by the splits around its position; or its first coordinate.
enum class BinRows { kOne, kDense, kSplits, kCoordinates };

// Inputs: [splits or coordinates], the numbers, [dense_shape], the number of bins, weights (with
// the numbers' shape, or empty). Attribute binary_output: 1 instead of counts. The output is int32,
// int64, float or double; its shape must be complete. InvalidArgument for numbers below 0,
// coordinates that do not match, and, at Run, splits that do not.
absl::StatusOr<std::unique_ptr<Kernel>> Bincount(PrepareContext& p, BinRows how);

// Bincount as a kernel factory; a number of bins that is not known in Prepare is read at Run.
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
