// Floating-point numbers from random bits.
#ifndef TENON_KERNELS_RANDOM_UNIT_NUMBERS_H_
#define TENON_KERNELS_RANDOM_UNIT_NUMBERS_H_

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/interface/types.h"
#include "kernels/random/philox.h"

namespace tenon {

// Random bits as the fraction of a number in [1, 2), minus 1.
inline float UnitFloat(uint32_t bits) {
  const uint32_t word = (127u << 23) | (bits & 0x7FFFFF);
  float v;
  std::memcpy(&v, &word, sizeof v);
  return v - 1.0f;
}
inline double UnitDouble(uint32_t low, uint32_t high) {
  const uint64_t fraction = (static_cast<uint64_t>(low & 0xFFFFF) << 32) | high;
  const uint64_t word = (uint64_t{1023} << 52) | fraction;
  double v;
  std::memcpy(&v, &word, sizeof v);
  return v - 1.0;
}
inline half UnitHalf(uint32_t bits) {
  const uint16_t word = static_cast<uint16_t>((15u << 10) | (bits & 0x3FF));
  return static_cast<half>(static_cast<float>(Eigen::numext::bit_cast<half>(word)) - 1.0f);
}
inline bfloat16 UnitBfloat16(uint32_t bits) {
  const uint16_t word = static_cast<uint16_t>((127u << 7) | (bits & 0x7F));
  return static_cast<bfloat16>(static_cast<float>(Eigen::numext::bit_cast<bfloat16>(word)) - 1.0f);
}

// Two normal numbers from two uniform ones (Box-Muller).
template <typename T>
std::array<T, 2> BoxMuller(T radius, T angle) {
  const T u = std::max(radius, T(1e-7));
  const T v = T(2 * 3.14159265358979323846) * angle;
  const T scale = std::sqrt(T(-2) * std::log(u));
  return {std::sin(v) * scale, std::cos(v) * scale};
}

template <typename T>
inline constexpr int kPerBlock = sizeof(T) == 8 ? 2 : 4;

// The numbers of a block: kPerBlock<T>.
template <typename T>
void UniformBlock(const uint32_t* x, T* out) {
  for (int i = 0; i < kPerBlock<T>; ++i) {
    if constexpr (std::is_same_v<T, double>) {
      out[i] = UnitDouble(x[2 * i], x[2 * i + 1]);
    } else if constexpr (std::is_same_v<T, float>) {
      out[i] = UnitFloat(x[i]);
    } else if constexpr (std::is_same_v<T, half>) {
      out[i] = UnitHalf(x[i]);
    } else {
      out[i] = UnitBfloat16(x[i]);
    }
  }
}

template <typename T>
void NormalBlock(const uint32_t* x, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    const auto pair = BoxMuller(UnitDouble(x[0], x[1]), UnitDouble(x[2], x[3]));
    std::copy(pair.begin(), pair.end(), out);
  } else {
    for (size_t i = 0; i < 4; i += 2) {
      const auto pair = BoxMuller(UnitFloat(x[i]), UnitFloat(x[i + 1]));
      out[i] = static_cast<T>(pair[0]);
      out[i + 1] = static_cast<T>(pair[1]);
    }
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_UNIT_NUMBERS_H_
