// Replaces slices of a tensor by updates, or combines them, in the order of the updates.
#ifndef TENON_KERNELS_LAYOUT_SCATTER_H_
#define TENON_KERNELS_LAYOUT_SCATTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The new value of an element `v` with update `u`: u, v + u, v - u, v * u, v / u, the minimum or
// the maximum. Sums of bools are or-ed, of strings concatenated; integers wrap around. kMinimum and
// kMaximum are those of the ops of these names: a NaN on either side is the result.
enum class ScatterFunction { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax, kMinimum, kMaximum };

// One slice per offset, or one element for all of them.
enum class ScatterUpdates { kSlices, kScalar };

// Combines `slice` elements at each offset of `out` (negative: skipped) with the updates. Integers
// must not be divided by 0.
using ScatterFn = void (*)(void* out, const void* updates, absl::Span<const int64_t> offsets,
                           int64_t slice, ScatterUpdates kind);

// Null if the function does not support the dtype: all support real numbers, kUpdate and kAdd
// everything, kSub, kMul and kDiv complex numbers too.
ScatterFn FindScatter(ScatterFunction function, DType dtype);

// A copy of input 0 with the slices given by input 1 (index vectors) combined with input 2. All
// dtypes of FindScatter except sums of strings. InvalidArgument for an index out of range, unless
// bad_indices_policy is IGNORE.
absl::StatusOr<std::unique_ptr<Kernel>> TensorScatterKernel(PrepareContext& p,
                                                            ScatterFunction function);
template <ScatterFunction function>
absl::StatusOr<std::unique_ptr<Kernel>> TensorScatterKernel(PrepareContext& p) {
  return TensorScatterKernel(p, function);
}

// Zeros with the updates (input 1) added at the slices given by input 0; input 2 is the shape. Any
// dtype. InvalidArgument as above.
absl::StatusOr<std::unique_ptr<Kernel>> ScatterNdKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_SCATTER_H_
