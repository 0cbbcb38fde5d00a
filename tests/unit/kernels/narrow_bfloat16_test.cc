#include "kernels/elementwise/narrow_bfloat16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/elementwise/elementwise.h"

namespace tenon {
namespace {

// The nearest bfloat16, ties to even, in double arithmetic; x is a normal number or 0.
uint16_t Nearest(float x) {
  int exponent;
  const double mantissa = std::frexp(static_cast<double>(x), &exponent);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(rounded)) >> 16);
}

using NarrowFn = void (*)(const float*, uint16_t*, size_t);

class NarrowBfloat16 : public testing::TestWithParam<NarrowFn> {};

TEST_P(NarrowBfloat16, RoundsToNearestEvenForAnyLength) {
  std::vector<float> x = {0,
                          -0.0f,
                          1,
                          1.00390625f,
                          1.01171875f,
                          -1.00390625f,
                          3.3895314e38f,
                          -3.4028235e38f,
                          1e-37f,
                          1.17549435e-38f};
  for (uint32_t bits = 0x3f000000; x.size() < 100; bits += 0x2fedc) {
    x.push_back(std::bit_cast<float>(bits));
  }
  for (size_t n = 0; n <= x.size(); ++n) {
    constexpr uint16_t kUnset = 0x1234;
    std::vector<uint16_t> y(x.size() + 1, kUnset);
    GetParam()(x.data(), y.data(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], Nearest(x[i])) << x[i] << ", " << n;
    for (size_t i = n; i < y.size(); ++i) ASSERT_EQ(y[i], kUnset) << n;
  }
}

TEST_P(NarrowBfloat16, KeepsInfinityAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // The last NaN has no bit in the upper half of its mantissa.
  const std::vector<float> x = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                                std::bit_cast<float>(uint32_t{0x7f800001})};
  std::vector<uint16_t> y(x.size());
  GetParam()(x.data(), y.data(), x.size());
  EXPECT_EQ(y[0], 0x7f80);
  EXPECT_EQ(y[1], 0xff80);
  for (size_t i : {2, 3}) {
    EXPECT_EQ(y[i] & 0x7f80, 0x7f80);
    EXPECT_NE(y[i] & 0x7f, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(, NarrowBfloat16, testing::Values(NarrowToBfloat16, NarrowInVectorCode),
                         [](const auto& info) { return info.index == 0 ? "Best" : "VectorCode"; });

}  // namespace
}  // namespace tenon
