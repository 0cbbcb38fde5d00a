// Nested row splits, for RaggedGather and RaggedTensorToSparse.
#ifndef TENON_KERNELS_RAGGED_NESTED_SPLITS_H_
#define TENON_KERNELS_RAGGED_NESTED_SPLITS_H_

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/kernel.h"
#include "kernels/reduction/segments.h"

namespace tenon {

using NestedSplits = std::vector<std::vector<int64_t>>;

// Reads inputs first .. first + sizes.size() - 1. Each splits the rows of the next, the last one
// `values` rows. If `complete`, the outermost begins at 0 and ends with the number of rows.
inline absl::StatusOr<NestedSplits> ReadSplits(RunContext& run, DType dtype,
                                               const std::vector<int64_t>& sizes, int64_t values,
                                               bool complete, int first = 0) {
  NestedSplits all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<int64_t> splits =
        IntegersAt(dtype, run.input(first + static_cast<int>(i)), sizes[i]);
    const int64_t rows = i + 1 < sizes.size() ? sizes[i + 1] - 1 : values;
    if (splits.empty()) return InvalidArgument("row splits are empty");
    if (!std::is_sorted(splits.begin(), splits.end()) || splits.front() < 0) {
      return InvalidArgument("row splits must rise from 0");
    }
    if (splits.back() > rows) {
      return InvalidArgument("row splits end with ", splits.back(), " for ", rows, " rows");
    }
    if (complete && (splits.front() != 0 || splits.back() != rows)) {
      return InvalidArgument("row splits are ", splits.front(), " to ", splits.back(), " for ",
                             rows, " rows");
    }
    all.push_back(std::move(splits));
  }
  return all;
}

}  // namespace tenon

#endif  // TENON_KERNELS_RAGGED_NESTED_SPLITS_H_
