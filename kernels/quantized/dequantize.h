// Converts integers with a given range back to float or bfloat16.
#ifndef TENON_KERNELS_QUANTIZED_DEQUANTIZE_H_
#define TENON_KERNELS_QUANTIZED_DEQUANTIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {

// What integers represent.
struct DequantizeAttrs {
  RangeMode mode = RangeMode::kMinCombined;
  bool narrow_range = false;
  int64_t axis = -1;
};

// Reads mode, narrow_range and axis. InvalidArgument for an unknown mode.
absl::StatusOr<DequantizeAttrs> ReadDequantizeAttrs(const AttrReader& attrs);

// Input 0 of any quantized dtype, inputs 1 and 2 its range, to float or (MIN_COMBINED only)
// bfloat16. InvalidArgument for MIN_FIRST with an axis.
absl::StatusOr<std::unique_ptr<Kernel>> DequantizeReference(PrepareContext& p);

// The same by vector code. Unimplemented for MIN_FIRST, and for anything other than 8 bits to
// float.
absl::StatusOr<std::unique_ptr<Kernel>> DequantizeVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_DEQUANTIZE_H_
