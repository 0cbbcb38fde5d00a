// Different slices of tensors, found by hashing. Any dtype; NaN equals nothing.
#ifndef TENON_KERNELS_LAYOUT_UNIQUE_H_
#define TENON_KERNELS_LAYOUT_UNIQUE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The axis that a value names (null or empty: x is a vector). InvalidArgument where there is no
// such axis.
absl::StatusOr<int> UniqueAxis(const Shape& x, const Tensor* axis);

// The different slices of x along the axis in input 1 (without it, x is a vector) in order of
// first appearance; for each slice which of them it is; and, where there is a third output, how
// often each appears. Positions are int32 or int64.
absl::StatusOr<std::unique_ptr<Kernel>> UniqueKernel(PrepareContext& p);

// The elements of the vector x that the vector y lacks, and their positions (int32 or int64).
absl::StatusOr<std::unique_ptr<Kernel>> ListDiffKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_UNIQUE_H_
