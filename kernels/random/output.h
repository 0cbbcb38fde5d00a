// Inputs and outputs of random ops: an output whose shape an input gives, parameters that are
// broadcast, and ranges of integers.
#ifndef TENON_KERNELS_RANDOM_OUTPUT_H_
#define TENON_KERNELS_RANDOM_OUTPUT_H_

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/shape_at_run.h"

namespace tenon {

// Output 0 at Run.
struct RandomOutput {
  void* data = nullptr;
  int64_t count = 0;
};
// Allocated from the shape's value if the shape was not known before.
absl::StatusOr<RandomOutput> OutputAtRun(RunContext& run, const Shape& planned, DType shape_type,
                                         int64_t rank, int input = 0);

// InvalidArgument unless an output of that shape ends with the shape of its parameters.
absl::Status ExpectEndsWith(const Shape& output, const Shape& parameters);
// The element of a parameter of shape `from` for element i of the broadcast shape `to`.
int64_t BroadcastElement(const Shape& from, const Shape& to, int64_t i);

// minval < maxval, as the start of the range and its size.
struct IntRange {
  uint64_t low = 0;
  uint64_t size = 0;
};
absl::StatusOr<IntRange> RangeAt(DType dtype, const void* minval, const void* maxval);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_OUTPUT_H_
