// Reads tensors from lists. A list is a scalar variant; unset items count as zeros.
#ifndef TENON_KERNELS_LISTS_READ_LIST_H_
#define TENON_KERNELS_LISTS_READ_LIST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// All items along a new first dimension; input 1 is their shape. InvalidArgument if their number is
// not num_elements (unless -1), or their shape is not known.
absl::StatusOr<std::unique_ptr<Kernel>> StackListKernel(PrepareContext& p);

// The items listed in input 1, along a new first dimension; input 2 is their shape. InvalidArgument
// for an index out of range.
absl::StatusOr<std::unique_ptr<Kernel>> GatherListKernel(PrepareContext& p);

// The item at index input 1; input 2 is its shape. InvalidArgument for an index out of range or a
// different shape.
absl::StatusOr<std::unique_ptr<Kernel>> GetListItemKernel(PrepareContext& p);

// Items concatenated along their first dimension, and their lengths. The element shape (an
// attribute, or input 1 if there are 3) includes that dimension; unset items have the length in
// input 2. InvalidArgument if shapes differ or are not known.
absl::StatusOr<std::unique_ptr<Kernel>> ConcatListKernel(PrepareContext& p);

// The number of items: int32.
absl::StatusOr<std::unique_ptr<Kernel>> ListLengthKernel(PrepareContext&);

// The shape of items as int32 or int64, -1 for unknown sizes; the scalar -1 if the rank is unknown.
absl::StatusOr<std::unique_ptr<Kernel>> ListElementShapeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_READ_LIST_H_
