// Feature crosses of sparse and dense columns of strings and numbers, as sparse tensors of
// joined texts or of buckets of joined hashes.
#ifndef TENON_KERNELS_SPARSE_CROSS_H_
#define TENON_KERNELS_SPARSE_CROSS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: indices [n, 2] of each sparse column, their values, their shapes, dense columns, and the
// op's other inputs.
struct CrossLayout {
  int sparse = 0;
  int dense = 0;

  int values(int i) const { return sparse + i; }
  int shapes(int i) const { return 2 * sparse + i; }
  int denses(int i) const { return 3 * sparse + i; }
  int others() const { return 3 * sparse + dense; }
};

// Reads the lists of dtypes. InvalidArgument if N differs from their length.
absl::StatusOr<CrossLayout> ReadCrossLayout(const AttrReader& attrs);

// Texts or buckets, by the output dtype; num_buckets and hash_key are attributes. InvalidArgument
// if columns have different numbers of rows, and for numbers if internal_type is string.
absl::StatusOr<std::unique_ptr<Kernel>> SparseCrossKernel(PrepareContext& p);

// Texts; the first input after the columns is the separator.
absl::StatusOr<std::unique_ptr<Kernel>> SparseCrossTextKernel(PrepareContext& p);

// Buckets; the inputs after the columns are their number, whether hashes are keyed, and the key (2
// numbers).
absl::StatusOr<std::unique_ptr<Kernel>> SparseCrossHashKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_CROSS_H_
