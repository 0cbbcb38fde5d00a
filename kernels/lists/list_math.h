// Arithmetic on variants, as needed by gradients of loops: lists of tensors are added item by item,
// and the zeros of a list are a list of zeros.
#ifndef TENON_KERNELS_LISTS_LIST_MATH_H_
#define TENON_KERNELS_LISTS_LIST_MATH_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/object.h"
#include "graph/tensor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// What a variant holds, other than a list, if it can be added.
class Summand : public Object {
 public:
  // InvalidArgument if `other` is not of this kind and form.
  virtual absl::StatusOr<ObjectPtr> Plus(const ObjectPtr& other) const = 0;
  virtual absl::StatusOr<ObjectPtr> Zeros() const = 0;
};

// The sum of two tensors of one dtype, and the zeros of a tensor; null: zeros of any shape.
// InvalidArgument if the shapes differ, or the dtype has no sums.
absl::StatusOr<std::shared_ptr<const Tensor>> AddItems(const std::shared_ptr<const Tensor>& a,
                                                       const std::shared_ptr<const Tensor>& b);
absl::StatusOr<std::shared_ptr<const Tensor>> ZerosLikeItem(const std::shared_ptr<const Tensor>& x);

// AddN and ZerosLike of dtype variant. Unset items count as zeros, and stay unset if all operands'
// are; nested lists are added likewise. At run time, InvalidArgument if variants hold neither lists
// nor Summands, or lists have different dtypes, lengths or shapes.
absl::StatusOr<std::unique_ptr<Kernel>> AddVariants(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> ZerosLikeVariants(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LISTS_LIST_MATH_H_
