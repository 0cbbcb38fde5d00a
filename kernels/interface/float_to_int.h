// Conversions of floats to integers that C++ leaves open for what does not fit.
#ifndef TENON_KERNELS_INTERFACE_FLOAT_TO_INT_H_
#define TENON_KERNELS_INTERFACE_FLOAT_TO_INT_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenon {

// Truncates; what does not fit becomes what x86's instructions make of it, as in TensorFlow.
template <typename I, typename F>
I FloatToInt(F v) {
  if constexpr (std::is_same_v<I, uint64_t>) {
    if (v >= F(9223372036854775808.0)) {
      return v < F(18446744073709551616.0)
                 ? static_cast<uint64_t>(static_cast<int64_t>(v - F(9223372036854775808.0))) +
                       (uint64_t{1} << 63)
                 : 0;
    }
    return static_cast<uint64_t>(FloatToInt<int64_t>(v));
  } else if constexpr (std::is_same_v<I, int64_t> || std::is_same_v<I, int32_t>) {
    constexpr F kLimit = sizeof(I) == 8 ? F(9223372036854775808.0) : F(2147483648.0);
    bool fits = v >= -kLimit && v < kLimit;
    if constexpr (sizeof(I) < sizeof(F)) {  // -2147483648.9 truncates to a valid value
      fits = std::trunc(v) >= -kLimit && v < kLimit;
    }
    // Selects instead of branches, so that loops are vectorized.
    const I converted = static_cast<I>(fits ? v : F(0));
    return fits ? converted : std::numeric_limits<I>::lowest();
  } else if constexpr (std::is_same_v<I, uint32_t>) {
    return static_cast<uint32_t>(FloatToInt<int64_t>(v));
  } else {
    return static_cast<I>(FloatToInt<int32_t>(v));
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_FLOAT_TO_INT_H_
