// Integer quotients and remainders that are defined for every pair except a zero divisor.
#ifndef TENON_KERNELS_ELEMENTWISE_INTEGER_DIVISION_H_
#define TENON_KERNELS_ELEMENTWISE_INTEGER_DIVISION_H_

#include <cstdint>
#include <type_traits>

#include "kernels/interface/types.h"

namespace tenon {

inline constexpr auto kNotZero = [](auto b) -> const char* {
  return b == decltype(b)(0) ? "Integer division by zero" : nullptr;
};

template <typename T>
T TruncatedQuotient(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    // A quotient of doubles is faster, and exact: it is further from the next integer than a
    // rounding. That of the lowest number and -1 wraps around.
    return static_cast<T>(static_cast<int64_t>(static_cast<double>(a) / static_cast<double>(b)));
  }
  if constexpr (std::is_signed_v<T>) {
    if (a == static_cast<int32_t>(a) && b == static_cast<int32_t>(b)) {
      return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
    }
    if (b == T(-1)) return WrapSub(T(0), a);
  }
  return static_cast<T>(a / b);
}

// The remainder has the dividend's sign.
template <typename T>
T TruncatedRemainder(T a, T b) {
  return WrapSub(a, WrapMul(TruncatedQuotient(a, b), b));
}

// 1 if a quotient by b with the remainder r is rounded down by one, else 0; without a jump.
template <typename T>
T RoundsDown(T r, T b) {
  return static_cast<T>(static_cast<int>(r != 0) & static_cast<int>((r < 0) != (b < 0)));
}

template <typename T>
T FloorQuotient(T a, T b) {
  const T q = TruncatedQuotient(a, b);
  const T r = WrapSub(a, WrapMul(q, b));
  return WrapSub(q, RoundsDown(r, b));
}

// The remainder has the divisor's sign.
template <typename T>
T FloorRemainder(T a, T b) {
  const T r = TruncatedRemainder(a, b);
  return WrapAdd(r, WrapMul(RoundsDown(r, b), b));
}

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_INTEGER_DIVISION_H_
