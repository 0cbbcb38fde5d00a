// Set operations: the elements in the last dimension of a tensor are one set for each position in
// the other dimensions. Elements are integers or strings.
#ifndef TENON_KERNELS_SPARSE_SETS_H_
#define TENON_KERNELS_SPARSE_SETS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The number of distinct elements in each set of a sparse tensor: int32, with the shape without the
// last dimension. InvalidArgument for indices out of bounds and, with validate_indices, out of
// order.
absl::StatusOr<std::unique_ptr<Kernel>> SetSizeKernel(PrepareContext& p);

// Which of the two operands are dense (one input each) and which sparse (three inputs each).
enum class SetOperands { kDenseDense, kDenseSparse, kSparseSparse };

// a - b, b - a, the intersection, the union.
enum class SetOperationKind { kMinus, kReverseMinus, kIntersection, kUnion };

// Reads the attribute set_operation. InvalidArgument if it is none of these.
absl::StatusOr<SetOperationKind> ReadSetOperation(const AttrReader& attrs);

// The operation on two sets at each position, as a sparse tensor. InvalidArgument if the operands
// have different positions, for indices out of bounds and, with validate_indices, out of order.
absl::StatusOr<std::unique_ptr<Kernel>> SetOperationKernel(PrepareContext& p, SetOperands operands);
template <SetOperands operands>
absl::StatusOr<std::unique_ptr<Kernel>> SetOperationKernel(PrepareContext& p) {
  return SetOperationKernel(p, operands);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_SETS_H_
