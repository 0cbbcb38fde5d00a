#include "graph/small_numbers.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(SmallNumbers, EveryFloat8IsItsOwnNearest) {
  for (const DType dtype : {DType::kFloat8E5m2, DType::kFloat8E4m3fn}) {
    for (int bits = 0; bits < 256; ++bits) {
      const float value = Float8Value(dtype, static_cast<uint8_t>(bits));
      const uint8_t back = Float8Bits(dtype, static_cast<double>(value));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(Float8Value(dtype, back))) << bits;
      } else {
        EXPECT_EQ(back, bits);
      }
    }
  }
}

// Between two neighbors, the nearer one, or the even one.
TEST(SmallNumbers, RoundsToNearestEven) {
  for (const DType dtype : {DType::kFloat8E5m2, DType::kFloat8E4m3fn}) {
    const int last = dtype == DType::kFloat8E5m2 ? 0x7B : 0x7E;
    for (int bits = 0; bits < last; ++bits) {
      const double low = static_cast<double>(Float8Value(dtype, static_cast<uint8_t>(bits)));
      const double high = static_cast<double>(Float8Value(dtype, static_cast<uint8_t>(bits + 1)));
      const double middle = (low + high) / 2;
      ASSERT_LT(low, high);
      EXPECT_EQ(Float8Bits(dtype, middle), bits % 2 == 0 ? bits : bits + 1);
      EXPECT_EQ(Float8Bits(dtype, std::nextafter(middle, 0)), bits);
      EXPECT_EQ(Float8Bits(dtype, std::nextafter(middle, kInfinity)), bits + 1);
      EXPECT_EQ(Float8Bits(dtype, -std::nextafter(middle, 0)), bits | 0x80);
    }
  }
}

TEST(SmallNumbers, LimitsOfFloat8) {
  EXPECT_EQ(Float8Value(DType::kFloat8E4m3fn, 0x7E), 448);
  EXPECT_EQ(Float8Value(DType::kFloat8E5m2, 0x7B), 57344);
  EXPECT_EQ(Float8Value(DType::kFloat8E5m2, 0xFC), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(Float8Bits(DType::kFloat8E4m3fn, 464), 0x7E);
  EXPECT_EQ(Float8Bits(DType::kFloat8E4m3fn, 464.1), 0x7F);
  EXPECT_EQ(Float8Bits(DType::kFloat8E4m3fn, kInfinity), 0x7F);
  EXPECT_EQ(Float8Bits(DType::kFloat8E5m2, 1e300), 0x7C);
  EXPECT_EQ(Float8Bits(DType::kFloat8E5m2, -kInfinity), 0xFC);
  EXPECT_EQ(Float8Bits(DType::kFloat8E5m2, -0.0), 0x80);
  EXPECT_EQ(Float8Bits(DType::kFloat8E5m2, 5e-324), 0);
}

TEST(SmallNumbers, FourBits) {
  EXPECT_EQ(Int4Value(0x08), -8);
  EXPECT_EQ(Int4Value(0xF8), -8);
  EXPECT_EQ(Int4Value(0x17), 7);
}

}  // namespace
}  // namespace tenon
