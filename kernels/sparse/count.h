// Counts the occurrences of each number in each row, as a sparse tensor.
#ifndef TENON_KERNELS_SPARSE_COUNT_H_
#define TENON_KERNELS_SPARSE_COUNT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// How the values are split into rows: by dimensions, coordinates or splits.
enum class CountedRows { kDense, kSparse, kSplits };

// The positions of the inputs; only kSparse has a shape.
struct CountInputs {
  int values, shape, weights;
};
constexpr CountInputs InputsOf(CountedRows rows) {
  if (rows == CountedRows::kDense) return {0, -1, 1};
  if (rows == CountedRows::kSplits) return {1, -1, 2};
  return {1, 2, 3};
}

// Counts (or with weights, their sums: int32, int64, float or double) of values (int32 or int64) of
// at least 0, and below maxlength unless that is -1; 1 each with binary_output. InvalidArgument
// for negative values and bad rows.
absl::StatusOr<std::unique_ptr<Kernel>> CountKernel(PrepareContext& p, CountedRows rows);
template <CountedRows rows>
absl::StatusOr<std::unique_ptr<Kernel>> CountKernel(PrepareContext& p) {
  return CountKernel(p, rows);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_COUNT_H_
