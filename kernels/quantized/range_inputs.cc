#include "kernels/quantized/range_inputs.h"

#include <string>

#include "env/status.h"

namespace tenon {

Slices SlicesOf(const Shape& shape, int64_t axis) {
  Slices s;
  for (int i = 0; i < shape.rank(); ++i) {
    (axis < 0 || i > axis ? s.inner : i < axis ? s.outer : s.count) *= shape[i];
  }
  return s;
}

absl::StatusOr<RangeMode> ReadRangeMode(const AttrReader& attrs) {
  const std::string mode = attrs.String("mode", "MIN_COMBINED");
  if (mode == "MIN_COMBINED") return RangeMode::kMinCombined;
  if (mode == "MIN_FIRST") return RangeMode::kMinFirst;
  if (mode == "SCALED") return RangeMode::kScaled;
  return InvalidArgument("mode must be MIN_COMBINED, MIN_FIRST or SCALED, is ", mode);
}

}  // namespace tenon
