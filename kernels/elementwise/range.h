// Sequences of evenly spaced numbers.
#ifndef TENON_KERNELS_ELEMENTWISE_RANGE_H_
#define TENON_KERNELS_ELEMENTWISE_RANGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// From input 0 in steps of input 2, by repeated addition (half and bfloat16: rounded at each step).
// Real numbers.
absl::StatusOr<std::unique_ptr<Kernel>> RangeKernel(PrepareContext& p);

// From input 0 to input 1, inclusive. Floats.
absl::StatusOr<std::unique_ptr<Kernel>> LinSpaceKernel(PrepareContext& p);

// The number of elements in a range from `start` to below `limit`: scalars of one dtype, real
// numbers. InvalidArgument for a step of 0, or away from the limit, and for ranges that are too
// long.
absl::StatusOr<int64_t> RangeLength(const Tensor& start, const Tensor& limit, const Tensor& delta);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_RANGE_H_
