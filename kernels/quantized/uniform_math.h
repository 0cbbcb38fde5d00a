// The arithmetic of uniform quantized ops, bit for bit as TensorFlow's: integers wrap around.
#ifndef TENON_KERNELS_QUANTIZED_UNIFORM_MATH_H_
#define TENON_KERNELS_QUANTIZED_UNIFORM_MATH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr_reader.h"
#include "kernels/interface/types.h"

namespace tenon {

// A positive factor as multiplier * 2^(shift - 31): products of integers are rounded once.
struct FixedPointFactor {
  int32_t multiplier = 0;
  int32_t shift = 0;

  // InvalidArgument unless `factor` is positive and finite. Factors of 2^30 and more become the
  // largest one, factors below 2^-32 become 0.
  static absl::StatusOr<FixedPointFactor> Of(double factor);

  // x * factor, rounded to nearest (ties up) and saturated.
  int32_t operator()(int32_t x) const {
    const int drop = 31 - shift;
    const int64_t sum = x * int64_t{multiplier} + (int64_t{1} << (drop - 1));
    return static_cast<int32_t>(std::clamp<int64_t>(
        sum >> drop, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  }
};

// A quantized integer as TensorFlow's kernels read it: those of 32 bits by way of float, which
// rounds them to 24 bits; 2^31 wraps around.
template <typename T>
int32_t ReadQuantized(T x) {
  if constexpr (sizeof(T) < 4) return x;
  const float rounded = static_cast<float>(x);
  return rounded < 0x1p31f ? static_cast<int32_t>(rounded) : std::numeric_limits<int32_t>::min();
}

// The integers to which results are clamped. Where low > high, low wins.
struct IntegerRange {
  int32_t low = std::numeric_limits<int32_t>::min();
  int32_t high = std::numeric_limits<int32_t>::max();

  // The attributes PREFIXquantization_min_val and PREFIXquantization_max_val.
  static absl::StatusOr<IntegerRange> Of(const AttrReader& attrs, const char* prefix);
  int32_t Clamp(int32_t x) const { return std::max(std::min(x, high), low); }
};

// floor(x / scale + 1/2) + zero point, given 1 / scale. NaN and what int32 cannot hold count as the
// lowest integer before the zero point is added.
inline int32_t QuantizeUniformly(float x, float inverse_scale, int32_t zero) {
  const float rounded = std::floor(x * inverse_scale + 0.5f);
  const bool fits = rounded >= -0x1p31f && rounded < 0x1p31f;
  return WrapAdd(fits ? static_cast<int32_t>(rounded) : std::numeric_limits<int32_t>::min(), zero);
}

// InvalidArgument unless all scales are positive.
absl::Status ExpectPositive(absl::Span<const float> scales, const char* whose);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_UNIFORM_MATH_H_
