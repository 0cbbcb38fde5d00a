// Arithmetic on variants, as gradients of loops need it: lists of tensors are added item by item,
// and zeros like a list are a list of zeros.
#ifndef TENON_KERNELS_LISTS_LIST_MATH_H_
#define TENON_KERNELS_LISTS_LIST_MATH_H_

#include <memory>

#include "kernels/interface/kernel.h"

namespace tenon {

// AddN and ZerosLike of dtype variant. Items that are not set count as zeros and stay so in what is
// made of them alone; lists in lists are added likewise. Running, InvalidArgument where variants
// hold no lists, or lists of unequal dtypes, lengths or shapes.
absl::StatusOr<std::unique_ptr<Kernel>> AddVariants(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> ZerosLikeVariants(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_LIST_MATH_H_
