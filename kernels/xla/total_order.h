// XLA's order of elements for sorting: -NaN, -inf … -0, +0 … +inf, +NaN.
#ifndef TENON_KERNELS_XLA_TOTAL_ORDER_H_
#define TENON_KERNELS_XLA_TOTAL_ORDER_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/interface/types.h"

namespace tenon {

// A number whose order is that of the elements.
template <typename T>
auto OrderKey(T v) {
  if constexpr (kIsFloat<T>) {
    using I = std::conditional_t<sizeof(T) == 2, int16_t,
                                 std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
    const I bits = std::bit_cast<I>(v);
    return bits < 0 ? static_cast<I>(bits ^ std::numeric_limits<I>::max()) : bits;
  } else {
    return v;
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_TOTAL_ORDER_H_
