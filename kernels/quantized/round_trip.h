// The integers to which QuantizeAndDequantize rounds.
#ifndef TENON_KERNELS_QUANTIZED_ROUND_TRIP_H_
#define TENON_KERNELS_QUANTIZED_ROUND_TRIP_H_

#include <cstdint>
#include <limits>

namespace tenon {

struct RoundTripIntegers {
  bool is_signed = true;
  bool narrow = false;  // without the lowest integer
  int64_t bits = 8;
};

// The largest scale at which [min, max] fits the integers and 0 stays 0: integers are scale *
// values, and 1 represents `inverse`. [min, max] becomes the range that the integers represent.
template <typename T>
struct RoundTripSteps {
  T min, max, scale, inverse;

  RoundTripSteps(const RoundTripIntegers& integers, T low, T high) : min(low), max(high) {
    const bool is_signed = integers.is_signed;
    const int64_t top = (int64_t{1} << (is_signed ? integers.bits - 1 : integers.bits)) - 1;
    const int64_t bottom = is_signed ? -top - (integers.narrow ? 0 : 1) : 0;
    const T t = static_cast<T>(top), b = static_cast<T>(bottom);
    constexpr T kNone = std::numeric_limits<T>::max();
    const T from_min = b * min > 0 ? b / min : kNone;
    const T from_max = t * max > 0 ? t / max : kNone;
    if (from_min < from_max) {
      scale = from_min;
      inverse = min / b;
      max = t * inverse;
    } else {
      scale = from_max;
      inverse = max / t;
      min = b * inverse;
    }
  }
};

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_ROUND_TRIP_H_
