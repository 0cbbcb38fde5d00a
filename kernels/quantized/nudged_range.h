// The integers of fake quantization: a range is moved slightly, so that an integer represents 0.
#ifndef TENON_KERNELS_QUANTIZED_NUDGED_RANGE_H_
#define TENON_KERNELS_QUANTIZED_NUDGED_RANGE_H_

#include <cmath>

#include "env/status.h"
#include "graph/attr_reader.h"
#include "kernels/quantized/range_math.h"

namespace tenon {

// The lowest and the highest integer.
struct Steps {
  float low = 0, high = 255;
};

// Read from the attributes num_bits and narrow_range.
inline absl::StatusOr<Steps> ReadSteps(const AttrReader& attrs) {
  const int64_t bits = attrs.Int("num_bits", 8);
  if (bits < 2 || bits > 16) return InvalidArgument("num_bits must be 2 to 16, is ", bits);
  return Steps{attrs.Bool("narrow_range", false) ? 1.0f : 0.0f,
               static_cast<float>((1 << bits) - 1)};
}

// The integer k represents (k - point) * scale.
struct Nudged {
  float min, max, scale, inverse, zero, point;

  Nudged(FloatRange r, Steps s) {
    scale = (r.max - r.min) / (s.high - s.low);
    inverse = (s.high - s.low) / (r.max - r.min);
    const float exact = s.low - r.min / scale;
    point = exact < s.low ? s.low : exact > s.high ? s.high : std::round(exact);
    min = (s.low - point) * scale;
    max = (s.high - point) * scale;
    zero = std::floor(-min * inverse + 0.5f);
  }
};

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_NUDGED_RANGE_H_
