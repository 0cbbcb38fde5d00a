// Tensors read from lists. A list is a scalar variant; items that are not set count as zeros.
#ifndef TENON_KERNELS_LISTS_READ_LIST_H_
#define TENON_KERNELS_LISTS_READ_LIST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// All items under a new first dimension; input 1 is their shape. InvalidArgument where their
// number is not num_elements (unless -1), or their shape not known.
absl::StatusOr<std::unique_ptr<Kernel>> StackListKernel(PrepareContext& p);

// The items that input 1 lists under a new first dimension; input 2 is their shape.
// InvalidArgument for an index out of range.
absl::StatusOr<std::unique_ptr<Kernel>> GatherListKernel(PrepareContext& p);

// Item input 1; input 2 is its shape. InvalidArgument for an index out of range and another shape.
absl::StatusOr<std::unique_ptr<Kernel>> GetListItemKernel(PrepareContext& p);

// Items joined along their first dimension, and their lengths. The element shape (an attribute,
// or input 1 where there are 3) begins with that dimension; items that are not set have the
// length that input 2 says. InvalidArgument where shapes differ or are not known.
absl::StatusOr<std::unique_ptr<Kernel>> ConcatListKernel(PrepareContext& p);

// The number of items: int32.
absl::StatusOr<std::unique_ptr<Kernel>> ListLengthKernel(PrepareContext&);

// The shape of items as int32 or int64, -1 for sizes that are not known; the scalar -1 without
// rank.
absl::StatusOr<std::unique_ptr<Kernel>> ListElementShapeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_READ_LIST_H_
