// Converts rows of different lengths to a dense tensor.
#ifndef TENON_KERNELS_RAGGED_TO_DENSE_H_
#define TENON_KERNELS_RAGGED_TO_DENSE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// How a ragged dimension encodes its rows.
enum class RowPartition { kFirstDimSize, kValueRowIds, kRowSplits };

// Reads the attribute row_partition_types. InvalidArgument if they are incompatible.
absl::StatusOr<std::vector<RowPartition>> ReadRowPartitions(const AttrReader& attrs);

struct RaggedToDenseInputs {
  static constexpr int kShape = 0, kValues = 1, kDefault = 2, kPartitions = 3;
};

// The dimensions from `shape` (of shape `shape_shape`), merged with those that the values
// determine; -1: as long as necessary. InvalidArgument if the two contradict each other.
absl::StatusOr<std::vector<int64_t>> RaggedToDenseDims(const Shape& shape_shape,
                                                       const std::vector<int64_t>& shape,
                                                       int ragged_dims, const Shape& values);

// Inputs: shape (-1: as long as the rows), values, default, and one partition per ragged dimension.
// Short rows are filled with the default, long ones are cut. Any dtype. InvalidArgument if
// partitions contradict each other or the values.
absl::StatusOr<std::unique_ptr<Kernel>> RaggedToDenseKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RAGGED_TO_DENSE_H_
