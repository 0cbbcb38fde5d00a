// Lists of tensors made and changed. A list is a scalar variant; one that is changed is copied
// (the tensors are shared).
#ifndef TENON_KERNELS_LISTS_MAKE_LIST_H_
#define TENON_KERNELS_LISTS_MAKE_LIST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A list without items; input 0 is the shape of those to come.
absl::StatusOr<std::unique_ptr<Kernel>> EmptyListKernel(PrepareContext& p);

// As many items as input 1 (int32) says, none of them set; input 0 is their shape.
absl::StatusOr<std::unique_ptr<Kernel>> ReservedListKernel(PrepareContext& p);

// The tensor's rows as items; input 1 is their shape. InvalidArgument where that does not fit.
absl::StatusOr<std::unique_ptr<Kernel>> ListFromTensorKernel(PrepareContext& p);

// Pieces of the tensor along its first dimension, of the lengths in input 2. InvalidArgument
// where these do not add up.
absl::StatusOr<std::unique_ptr<Kernel>> SplitToListKernel(PrepareContext& p);

// Rows of the tensor at the places in input 1; input 2 is their shape, input 3 (where there is
// one) the length of the list, -1: as long as needed. InvalidArgument for places out of range.
absl::StatusOr<std::unique_ptr<Kernel>> ScatterToListKernel(PrepareContext& p);

// The list (input 0) with rows of the tensor (input 1) at the places in input 2; it grows as
// needed. InvalidArgument where the shape does not fit.
absl::StatusOr<std::unique_ptr<Kernel>> ScatterIntoListKernel(PrepareContext& p);

// The list with item input 1 set to input 2. InvalidArgument for an index out of range (unless
// resize_if_index_out_of_bounds) and a shape that does not fit.
absl::StatusOr<std::unique_ptr<Kernel>> SetListItemKernel(PrepareContext& p);

// The list with input 1 behind its last item. InvalidArgument for a shape that does not fit.
absl::StatusOr<std::unique_ptr<Kernel>> PushBackKernel(PrepareContext& p);

// The list without its last item, and that item. InvalidArgument where the list is empty, or the
// item has another shape than input 1 says.
absl::StatusOr<std::unique_ptr<Kernel>> PopBackKernel(PrepareContext& p);

// The list cut or grown to the length in input 1.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeListKernel(PrepareContext&);

// The items of both lists. InvalidArgument where their element shapes contradict each other.
absl::StatusOr<std::unique_ptr<Kernel>> ConcatListsKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_MAKE_LIST_H_
