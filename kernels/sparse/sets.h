// Sets: the elements in the last dimension of a tensor, one set for each place in the dimensions
// before. Elements are integers or strings.
#ifndef TENON_KERNELS_SPARSE_SETS_H_
#define TENON_KERNELS_SPARSE_SETS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// How many different elements each set of a sparse tensor has: int32 in the shape without the
// last dimension. InvalidArgument for indices out of bounds and, with validate_indices, out of
// order.
absl::StatusOr<std::unique_ptr<Kernel>> SetSizeKernel(PrepareContext& p);

// Which of the two operands are dense (one input) and which sparse (three).
enum class SetOperands { kDenseDense, kDenseSparse, kSparseSparse };

// a - b, b - a, the intersection, the union.
enum class SetOperationKind { kMinus, kReverseMinus, kIntersection, kUnion };

// From the attribute set_operation. InvalidArgument where it is none of these.
absl::StatusOr<SetOperationKind> ReadSetOperation(const AttrReader& attrs);

// The operation on two sets at each place, as a sparse tensor. InvalidArgument where the operands
// have different places, for indices out of bounds and, with validate_indices, out of order.
absl::StatusOr<std::unique_ptr<Kernel>> SetOperationKernel(PrepareContext& p, SetOperands operands);
template <SetOperands operands>
absl::StatusOr<std::unique_ptr<Kernel>> SetOperationKernel(PrepareContext& p) {
  return SetOperationKernel(p, operands);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_SETS_H_
