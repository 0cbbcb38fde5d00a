// The loops of quantized_simd.h on each instruction set, against plain computations, with sizes
// that are no multiples of vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/quantized/quantized_simd.h"
#include "kernels/quantized/range_math.h"
#include "kernels/quantized/uniform_math.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

class QuantizedMaps : public TargetTest<int> {  // the number of elements
 protected:
  size_t n() const { return static_cast<size_t>(GetCase()); }

  template <typename T>
  std::vector<T> Integers(int64_t low, int64_t high) {
    std::uniform_int_distribution<int64_t> value(low, high);
    std::vector<T> out(n());
    for (T& v : out) v = static_cast<T>(value(random_));
    return out;
  }
  // With values that no integer represents.
  std::vector<float> Floats() {
    constexpr std::array<float, 8> kSpecial = {0.0f, -0.0f, kInf, -kInf, kNaN, 3e9f, -3e9f, 2.5f};
    std::uniform_real_distribution<float> value(-300, 300);
    std::vector<float> out(n());
    for (size_t i = 0; i < n(); ++i) out[i] = i % 7 == 3 ? kSpecial[i / 7 % 8] : value(random_);
    return out;
  }

  std::mt19937 random_{5};
};

TEST_P(QuantizedMaps, BytesToIntegersWrapAround) {
  const auto a = Integers<uint8_t>(0, 255), b = Integers<uint8_t>(0, 255);
  const auto product = [](int64_t x, int64_t y) { return static_cast<int32_t>(x * y); };
  for (const size_t a_step : {0, 1}) {
    for (const size_t b_step : {0, 1}) {
      if (n() == 0) continue;
      const BytePairs pairs{a.data(), b.data(), a_step, b_step};
      std::vector<int32_t> sums(n() + 1, 7), products(n() + 1, 7);
      FindBytesToInts().add(pairs, 30000001, -17, 5, sums.data(), n());
      FindBytesToInts().multiply(pairs, 128, -2147483647, products.data(), n());
      EXPECT_EQ(sums[n()], 7);
      EXPECT_EQ(products[n()], 7);
      for (size_t i = 0; i < n(); ++i) {
        const int64_t x = a[i * a_step], y = b[i * b_step];
        EXPECT_EQ(sums[i], static_cast<int32_t>(x * 30000001 - y * 17 + 5)) << i;
        EXPECT_EQ(products[i],
                  product(x - 128, static_cast<int32_t>(static_cast<uint32_t>(y + 2147483647))))
            << i;
      }
    }
  }
}

template <typename T>
void ExpectExtremes(const std::vector<T>& x, Extremes<T> range) {
  const Extremes<T> got = FindExtremes<T>()(x.data(), x.size(), range);
  for (const T v : x) {
    range.low = std::min(range.low, v);
    range.high = std::max(range.high, v);
  }
  EXPECT_EQ(got.low, range.low);
  EXPECT_EQ(got.high, range.high);
}

TEST_P(QuantizedMaps, ExtremesIgnoreNan) {
  const auto floats = Floats();
  ExpectExtremes<float>(floats, {1e30f, -1e30f});
  ExpectExtremes<float>(floats, {-1e38f, 1e38f});
  ExpectExtremes<double>(std::vector<double>(floats.begin(), floats.end()), {1e30, -1e30});
  ExpectExtremes<int32_t>(Integers<int32_t>(INT32_MIN, INT32_MAX), {INT32_MAX, INT32_MIN});
}

template <typename T>
void ExpectRoundTrip(const std::vector<T>& x) {
  for (const bool clamp : {false, true}) {
    for (const bool half_up : {false, true}) {
      const RoundTripMap<T> map{clamp, half_up, T(-100.3), T(50.7), T(1.25), T(0.8)};
      std::vector<T> got(x.size() + 1, T(7)), columns(x.size() + 1, T(7));
      FindRoundTrip<T>()(map, x.data(), got.data(), x.size());
      EXPECT_EQ(got.back(), T(7));
      const std::vector<T> min(x.size(), map.min), max(x.size(), map.max);
      const std::vector<T> scale(x.size(), map.scale), inverse(x.size(), map.inverse);
      FindRoundTripColumns<T>()(
          {clamp, half_up, min.data(), max.data(), scale.data(), inverse.data()}, x.data(),
          columns.data(), x.size());
      EXPECT_EQ(std::memcmp(columns.data(), got.data(), got.size() * sizeof(T)), 0);
      for (size_t i = 0; i < x.size(); ++i) {
        const T inside = clamp ? std::max(std::min(x[i], map.max), map.min) : x[i];
        const T v = inside * map.scale;
        const T want = (half_up ? std::floor(v + T(0.5)) : std::nearbyint(v)) * map.inverse;
        EXPECT_TRUE(std::memcmp(&got[i], &want, sizeof(T)) == 0 ||
                    (std::isnan(got[i]) && std::isnan(want)))
            << x[i] << ": " << got[i] << ", not " << want;
      }
    }
  }
}

TEST_P(QuantizedMaps, RoundTripsHaveTheBitsOfPlainLoops) {
  const auto floats = Floats();
  ExpectRoundTrip(floats);
  ExpectRoundTrip(std::vector<double>(floats.begin(), floats.end()));
}

template <typename T>
void ExpectUniform(const std::vector<float>& x, const UniformMap& map) {
  std::vector<T> got(x.size() + 1, T(7));
  FindUniformQuantize<T>()(map, x.data(), got.data(), x.size());
  EXPECT_EQ(got.back(), T(7));
  std::vector<T> columns(x.size() + 1, T(7));
  const std::vector<float> inverse(x.size(), map.inverse);
  const std::vector<int32_t> zero(x.size(), map.zero);
  FindUniformQuantizeColumns<T>()({inverse.data(), zero.data(), map.low, map.high}, x.data(),
                                  columns.data(), x.size());
  EXPECT_EQ(columns, got);
  for (size_t i = 0; i < x.size(); ++i) {
    const IntegerRange range{map.low, map.high};
    EXPECT_EQ(got[i], static_cast<T>(range.Clamp(QuantizeUniformly(x[i], map.inverse, map.zero))))
        << x[i];
  }
}

TEST_P(QuantizedMaps, UniformQuantizationIsThatOfPlainLoops) {
  const auto x = Floats();
  ExpectUniform<int8_t>(x, {10, 3, -128, 127});
  ExpectUniform<int8_t>(x, {0.5f, -70, -20, 300});
  ExpectUniform<int32_t>(x, {1e7f, 2000000000, INT32_MIN, INT32_MAX});
  ExpectUniform<int32_t>(x, {3, 0, 50, -50});
}

TEST_P(QuantizedMaps, RequantizationIsThatOfPlainLoops) {
  auto x = Integers<int32_t>(INT32_MIN, INT32_MAX);
  for (size_t i = 0; i < n(); i += 2) x[i] /= 1 << 24;
  for (const FloatRange from : {FloatRange{-1e9f, 1e9f}, {-3, 100}, {0, kNaN}, {-kInf, 5}}) {
    for (const FloatRange to : {FloatRange{-1, 1}, {-5, 80}, {-1e9f, 1e7f}}) {
      const Dequantizer<int32_t> dequantize(from);
      const Quantizer<int8_t> quantize(to);
      std::vector<uint8_t> got(n() + 1, 7);
      FindRequantize()(
          {dequantize.scale(), dequantize.offset(), quantize.scale(), quantize.offset(), -128, 127},
          x.data(), got.data(), n());
      EXPECT_EQ(got[n()], 7);
      for (size_t i = 0; i < n(); ++i) {
        EXPECT_EQ(static_cast<int8_t>(got[i]), quantize(dequantize(x[i]))) << x[i];
      }
      std::vector<float> scales(n());
      for (size_t i = 0; i < n(); ++i)
        scales[i] = i % 5 == 4 ? kNaN : from.max * 1e-8f * (1.0f + i);
      FindRequantizeColumns()({scales.data(), 0, 255}, x.data(), got.data(), n());
      EXPECT_EQ(got[n()], 7);
      for (size_t i = 0; i < n(); ++i) {
        const float v = std::nearbyint(static_cast<float>(x[i]) * scales[i]);
        EXPECT_EQ(got[i], TruncateTo<uint8_t>(std::min(std::max(v, 0.0f), 255.0f))) << x[i];
      }
    }
  }
}

TEST_P(QuantizedMaps, FixedPointIsThatOfWideIntegers) {
  auto x = Integers<int32_t>(INT32_MIN, INT32_MAX);
  if (n() > 2) {
    x[0] = INT32_MIN;
    x[1] = INT32_MAX;
    x[2] = 0;
  }
  for (const FixedPointMap& map : {FixedPointMap{INT32_MAX, 32768},
                                   {0, 1 << 30},
                                   {16777216, -(1 << 30)},
                                   {20000000, 8388608},
                                   {1, 5000000}}) {
    std::vector<uint8_t> got(n() + 1, 7);
    FindFixedPointToBytes()(map, x.data(), got.data(), n());
    EXPECT_EQ(got[n()], 7);
    for (size_t i = 0; i < n(); ++i) {
      const int64_t v = ((int64_t{x[i]} * map.scale >> 32) + map.offset) >> 16;
      EXPECT_EQ(got[i], std::clamp<int64_t>(v, 0, 255)) << x[i];
    }
  }
}

TEST_P(QuantizedMaps, GradientsOfClipping) {
  const auto x = Integers<float>(-9, 9), dy = Integers<float>(-9, 9);
  std::vector<float> dx(n() + 1, 77);
  const RangeSlopes sums = FindRangeGradient()(-2, 5, dy.data(), x.data(), dx.data(), n());
  EXPECT_EQ(dx.back(), 77);
  float below = 0, above = 0;
  for (size_t i = 0; i < n(); ++i) {
    EXPECT_EQ(dx[i], x[i] >= -2 && x[i] <= 5 ? dy[i] : 0) << x[i];
    if (x[i] < -2) below += dy[i];
    if (x[i] > 5) above += dy[i];
  }
  EXPECT_EQ(sums.below, below);
  EXPECT_EQ(sums.above, above);
}

INSTANTIATE_TEST_SUITE_P(, QuantizedMaps,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(0, 1, 3, 15, 16, 17, 67, 200)));

}  // namespace
}  // namespace tenon
