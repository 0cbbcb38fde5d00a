// Range inputs of quantized ops: one min and one max for the whole tensor, or one of each per slice
// along an axis.
#ifndef TENON_KERNELS_QUANTIZED_RANGE_INPUTS_H_
#define TENON_KERNELS_QUANTIZED_RANGE_INPUTS_H_

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/quantized/range_math.h"

namespace tenon {

// How integers map to their range. MIN_COMBINED and MIN_FIRST map min to the lowest integer (with
// different rounding), SCALED maps 0 to 0.
enum class RangeMode { kMinCombined, kMinFirst, kScaled };

// Reads the attribute mode. InvalidArgument if it is none of these.
absl::StatusOr<RangeMode> ReadRangeMode(const AttrReader& attrs);

// A tensor cut along `axis` into `count` slices: [outer, count, inner]. axis -1: one slice.
struct Slices {
  int64_t outer = 1;
  int64_t count = 1;
  int64_t inner = 1;
};
Slices SlicesOf(const Shape& shape, int64_t axis);

inline FloatRange ScalarRange(const RunContext& r, int min_input) {
  return {r.input<float>(min_input)[0], r.input<float>(min_input + 1)[0]};
}
inline void SetRange(RunContext& r, int min_output, FloatRange range) {
  r.output<float>(min_output)[0] = range.min;
  r.output<float>(min_output + 1)[0] = range.max;
}

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_RANGE_INPUTS_H_
