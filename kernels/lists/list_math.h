// Arithmetic on variants, as needed by gradients of loops: lists of tensors are added item by item,
// and the zeros of a list are a list of zeros.
#ifndef TENON_KERNELS_LISTS_LIST_MATH_H_
#define TENON_KERNELS_LISTS_LIST_MATH_H_

#include <memory>

#include "kernels/interface/kernel.h"

namespace tenon {

// AddN and ZerosLike of dtype variant. Unset items count as zeros, and stay unset if all operands'
// are; nested lists are added likewise. At run time, InvalidArgument if variants do not hold lists,
// or lists have different dtypes, lengths or shapes.
absl::StatusOr<std::unique_ptr<Kernel>> AddVariants(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> ZerosLikeVariants(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_LIST_MATH_H_
