// Feature crosses of ragged, sparse and dense columns of strings and numbers, as a ragged tensor.
#ifndef TENON_KERNELS_RAGGED_CROSS_H_
#define TENON_KERNELS_RAGGED_CROSS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// The number of columns of each kind, and the inputs of each.
struct RaggedCrossLayout {
  int ragged = 0, sparse = 0, dense = 0;
  std::string order;  // R, S or D per column

  int splits(int i) const { return ragged + i; }
  int indices(int i) const { return 2 * ragged + i; }
  int values(int i) const { return 2 * ragged + sparse + i; }
  int shapes(int i) const { return 2 * ragged + 2 * sparse + i; }
  int denses(int i) const { return 2 * ragged + 3 * sparse + i; }
};

// Reads the lists of dtypes and input_order. InvalidArgument if these do not agree.
absl::StatusOr<RaggedCrossLayout> ReadRaggedCrossLayout(const AttrReader& attrs);

// Joined texts or buckets of joined hashes, by the output dtype, and row splits (int32 or int64).
// InvalidArgument if columns have different numbers of rows or bad splits.
absl::StatusOr<std::unique_ptr<Kernel>> RaggedCrossKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RAGGED_CROSS_H_
