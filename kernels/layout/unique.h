// Finds distinct slices of tensors by hashing. Any dtype; NaN equals nothing.
#ifndef TENON_KERNELS_LAYOUT_UNIQUE_H_
#define TENON_KERNELS_LAYOUT_UNIQUE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The axis that a value names (null or empty: x is a vector). InvalidArgument if there is no such
// axis.
absl::StatusOr<int> UniqueAxis(const Shape& x, const Tensor* axis);

// The distinct slices of x along the axis in input 1 (without it, x is a vector) in order of first
// appearance; the index of each slice among them; and, if there is a third output, the number of
// occurrences. Positions are int32 or int64.
absl::StatusOr<std::unique_ptr<Kernel>> UniqueKernel(PrepareContext& p);

// The elements of the vector x that are not in the vector y, and their positions (int32 or int64).
absl::StatusOr<std::unique_ptr<Kernel>> ListDiffKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_UNIQUE_H_
