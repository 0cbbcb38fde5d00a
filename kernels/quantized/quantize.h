// Converts floats to integers with a given range, for the whole tensor or per slice along an axis.
// MIN_COMBINED and MIN_FIRST map min to the lowest integer; SCALED maps 0 to 0.
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

// Reads mode, round_mode, narrow_range, axis and ensure_minimum_range. InvalidArgument if they are
// incompatible.
absl::StatusOr<QuantizeAttrs> ReadQuantizeAttrs(const AttrReader& attrs);

// Input 0 is float, inputs 1 and 2 its range; outputs are integers of any quantized dtype and their
// actual range. InvalidArgument for a range whose max is below its min.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizeReference(PrepareContext& p);

// The same by vector code. Unimplemented for MIN_FIRST, and for anything other than 8 bits.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizeVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZE_H_
