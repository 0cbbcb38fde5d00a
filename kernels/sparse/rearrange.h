// Sparse tensors (indices [n, rank], values [n], shape [rank]) with their elements moved:
// sorted, joined, cut, reshaped, filled up.
#ifndef TENON_KERNELS_SPARSE_REARRANGE_H_
#define TENON_KERNELS_SPARSE_REARRANGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Indices (input 0) of a tensor of shape input 1 as those of shape input 2, of which one size
// may be -1; and that shape. InvalidArgument where the shapes differ in elements.
absl::StatusOr<std::unique_ptr<Kernel>> SparseReshapeKernel(PrepareContext& p);

// The tensor of inputs 0 to 2 with the default (input 3) at the beginning of each empty row;
// which rows were empty; where each element went. Any dtype. InvalidArgument for rows out of
// bounds.
absl::StatusOr<std::unique_ptr<Kernel>> FillEmptyRowsKernel(PrepareContext& p);

// Elements in row-major order; those at the same place stay in their order. Any dtype.
// InvalidArgument for indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseReorderKernel(PrepareContext& p);

// N tensors (all indices, all values, all shapes) joined along concat_dim, in row-major order.
// Any dtype. InvalidArgument where other sizes differ or indices are out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseConcatKernel(PrepareContext& p);

// The elements from `start` (input 3) on in a box of `size` (input 4), cut at the borders. Any
// dtype. InvalidArgument for negative starts or sizes and indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSliceKernel(PrepareContext& p);

// The attribute num_split. InvalidArgument where it is below 1.
absl::StatusOr<int64_t> ReadSparseParts(const AttrReader& attrs);

// The tensor of inputs 1 to 3 cut along the dimension in input 0 into num_split parts; the first
// ones are larger where the size does not divide. Any dtype. InvalidArgument where a part would
// have no size.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSplitKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_REARRANGE_H_
