// Joins strings with a separator: elementwise, along axes, by segment.
#ifndef TENON_KERNELS_STRINGS_JOIN_H_
#define TENON_KERNELS_STRINGS_JOIN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Element by element over all inputs, which have the same shape or are scalars.
absl::StatusOr<std::unique_ptr<Kernel>> StringJoinKernel(PrepareContext& p);

// The axes of a tensor with that rank that a value lists, in its order, as non-negative numbers.
// InvalidArgument if one is out of range or repeated.
absl::StatusOr<std::vector<int64_t>> JoinedAxes(const Tensor& t, int rank);

// Along the axes listed in input 1, in their order, the first one varying fastest; kept with size 1
// with keep_dims. InvalidArgument if one is out of range or repeated.
absl::StatusOr<std::unique_ptr<Kernel>> ReduceJoinKernel(PrepareContext& p);

// Rows of input 0 with the same id (input 1, int32 or int64), joined in order; negative ids are
// dropped. InvalidArgument for ids beyond the number of segments (input 2).
absl::StatusOr<std::unique_ptr<Kernel>> SegmentJoinKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_JOIN_H_
