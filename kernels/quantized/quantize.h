// Floats to integers of a given range, for the whole tensor or for each slice of an axis.
// MIN_COMBINED and MIN_FIRST put the lowest integer at min; SCALED keeps 0 at 0.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZE_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {

// How floats are quantized.
struct QuantizeAttrs {
  RangeMode mode = RangeMode::kMinCombined;
  bool half_to_even = false;
  bool narrow_range = false;
  int64_t axis = -1;
  float minimum_range = 0.01f;
};

// From mode, round_mode, narrow_range, axis and ensure_minimum_range. InvalidArgument where they
// do not go together.
absl::StatusOr<QuantizeAttrs> ReadQuantizeAttrs(const AttrReader& attrs);

// Input 0 float, inputs 1 and 2 its range; outputs integers of any quantized dtype and the range
// that they really have. InvalidArgument for a range whose max is below its min.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizeReference(PrepareContext& p);

// The same by vector code. Unimplemented but for 8 bits, and for MIN_FIRST.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizeVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZE_H_
