// Rearranges the elements of sparse tensors (indices [n, rank], values [n], shape [rank]): sorts,
// concatenates, cuts, reshapes, fills rows.
#ifndef TENON_KERNELS_SPARSE_REARRANGE_H_
#define TENON_KERNELS_SPARSE_REARRANGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Converts indices (input 0) of a tensor with shape input 1 to those for shape input 2, of which
// one size may be -1; and that shape. InvalidArgument if the shapes differ in elements.
absl::StatusOr<std::unique_ptr<Kernel>> SparseReshapeKernel(PrepareContext& p);

// The tensor in inputs 0 to 2 with the default (input 3) at the start of each empty row; which rows
// were empty; the new position of each element. Any dtype. InvalidArgument for rows out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> FillEmptyRowsKernel(PrepareContext& p);

// Elements in row-major order; equal coordinates keep their order. Any dtype. InvalidArgument for
// indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseReorderKernel(PrepareContext& p);

// N tensors (all indices, all values, all shapes) concatenated along concat_dim, in row-major
// order. Any dtype. InvalidArgument if other sizes differ or indices are out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseConcatKernel(PrepareContext& p);

// The elements in a box of `size` (input 4) starting at `start` (input 3), cut at the borders. Any
// dtype. InvalidArgument for negative starts or sizes and indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSliceKernel(PrepareContext& p);

// The attribute num_split. InvalidArgument if it is below 1.
absl::StatusOr<int64_t> ReadSparseParts(const AttrReader& attrs);

// The tensor in inputs 1 to 3 split along the dimension in input 0 into num_split parts; the first
// ones are larger if the size is not divisible. Any dtype. InvalidArgument if a part would have no
// size.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSplitKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_REARRANGE_H_
