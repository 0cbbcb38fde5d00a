// Creates and changes lists of tensors. A list is a scalar variant; changing one copies it (the
// tensors are shared).
#ifndef TENON_KERNELS_LISTS_MAKE_LIST_H_
#define TENON_KERNELS_LISTS_MAKE_LIST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A list without items; input 0 is the shape of future items.
absl::StatusOr<std::unique_ptr<Kernel>> EmptyListKernel(PrepareContext& p);

// A list with the number of items in input 1 (int32), none of them set; input 0 is their shape.
absl::StatusOr<std::unique_ptr<Kernel>> ReservedListKernel(PrepareContext& p);

// The tensor's rows as items; input 1 is their shape. InvalidArgument if that does not match.
absl::StatusOr<std::unique_ptr<Kernel>> ListFromTensorKernel(PrepareContext& p);

// Pieces of the tensor along its first dimension, with the lengths in input 2. InvalidArgument if
// these do not add up.
absl::StatusOr<std::unique_ptr<Kernel>> SplitToListKernel(PrepareContext& p);

// Rows of the tensor at the positions in input 1; input 2 is their shape, input 3 (if present) the
// length of the list, -1: as long as needed. InvalidArgument for positions out of range.
absl::StatusOr<std::unique_ptr<Kernel>> ScatterToListKernel(PrepareContext& p);

// The list (input 0) with rows of the tensor (input 1) at the positions in input 2; it grows as
// needed. InvalidArgument if the shape does not match.
absl::StatusOr<std::unique_ptr<Kernel>> ScatterIntoListKernel(PrepareContext& p);

// The list with the item at index input 1 set to input 2. InvalidArgument for an index out of range
// (unless resize_if_index_out_of_bounds) or a shape that does not match.
absl::StatusOr<std::unique_ptr<Kernel>> SetListItemKernel(PrepareContext& p);

// The list with input 1 appended. InvalidArgument for a shape that does not match.
absl::StatusOr<std::unique_ptr<Kernel>> PushBackKernel(PrepareContext& p);

// The lists in vector input 0, each with a row of input 1 appended. InvalidArgument for a shape
// that does not match.
absl::StatusOr<std::unique_ptr<Kernel>> PushBackBatchKernel(PrepareContext& p);

// The list without its last item, and that item. InvalidArgument if the list is empty, or the
// item's shape differs from input 1.
absl::StatusOr<std::unique_ptr<Kernel>> PopBackKernel(PrepareContext& p);

// The list truncated or extended to the length in input 1.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeListKernel(PrepareContext&);

// The items of both lists. InvalidArgument if their element shapes contradict each other.
absl::StatusOr<std::unique_ptr<Kernel>> ConcatListsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_MAKE_LIST_H_
