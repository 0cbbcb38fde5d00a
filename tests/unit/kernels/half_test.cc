// Compares every half, and the floats around each rounding boundary, with Eigen's conversions.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/elementwise/half_simd.h"

namespace tenon {
namespace {

bool IsNan(uint16_t half) { return (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0; }

std::vector<uint16_t> EveryHalf() {
  std::vector<uint16_t> halves(65536 + 3);  // three more than fill whole vectors
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  return halves;
}

TEST(Half, EveryValueWidensExactly) {
  const std::vector<uint16_t> halves = EveryHalf();
  std::vector<float> floats(halves.size());
  WidenHalf(halves.data(), floats.data(), halves.size());
  for (size_t i = 0; i < halves.size(); ++i) {
    const float want = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(halves[i]));
    if (IsNan(halves[i])) {
      EXPECT_TRUE(std::isnan(floats[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(want)) << i;
    }
  }
}

TEST(Half, NarrowingRoundsToNearestEven) {
  std::vector<float> floats;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (uint16_t half : EveryHalf()) {
    if (IsNan(half)) continue;
    const float x = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(half));
    const uint16_t next_half = static_cast<uint16_t>(half + 1);
    const float next = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(next_half));
    const float between = IsNan(next_half) || std::isinf(next) ? x : x / 2 + next / 2;
    for (float f : {x, between}) {
      floats.insert(floats.end(), {f, std::nextafter(f, kInfinity), std::nextafter(f, -kInfinity)});
    }
  }
  for (float f : {65519.996f, 65520.0f, 1e9f, 1e-9f, 2.98e-8f, 1e-40f}) {
    floats.insert(floats.end(), {f, -f});
  }
  std::vector<uint16_t> halves(floats.size());
  NarrowToHalf(floats.data(), halves.data(), floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    EXPECT_EQ(halves[i], Eigen::numext::bit_cast<uint16_t>(static_cast<Eigen::half>(floats[i])))
        << floats[i];
  }
}

TEST(Half, NanStaysNan) {
  const std::vector<float> floats(37, std::numeric_limits<float>::quiet_NaN());
  std::vector<uint16_t> halves(floats.size());
  NarrowToHalf(floats.data(), halves.data(), floats.size());
  for (uint16_t half : halves) EXPECT_TRUE(IsNan(half));
}

}  // namespace
}  // namespace tenon
