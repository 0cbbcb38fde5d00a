#include "runtime/quantize/range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tenon {
namespace {

constexpr RangeOptions kMinMax{RangeMethod::kMinMax, 0};
RangeOptions Percent(double p) { return {RangeMethod::kPercentile, p}; }
constexpr RangeOptions kEntropy{RangeMethod::kEntropy, 0};
constexpr RangeOptions kError{RangeMethod::kError, 0};

std::vector<float> Normal(int n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(normal(engine));
  return values;
}

// The error of rounding to the 256 integers of a range.
double SquaredError(const std::vector<float>& values, ValueRange range) {
  const double step = (static_cast<double>(range.high) - range.low) / 255;
  double sum = 0;
  for (float v : values) {
    const double cut = std::clamp(v, range.low, range.high);
    const double rounded = std::nearbyint(cut / step) * step;
    sum += (v - rounded) * (v - rounded);
  }
  return sum;
}

TEST(RangeCollector, NothingAndZeros) {
  RangeCollector seen;
  for (int i = 0; i < 2; ++i) {
    for (const RangeOptions& o : {kMinMax, Percent(99), kEntropy, kError}) {
      EXPECT_EQ(seen.Range(o).low, 0);
      EXPECT_EQ(seen.Range(o).high, 0);
    }
    seen.Add(std::vector<float>(10, 0.0f));
  }
  EXPECT_FALSE(seen.negative());
}

TEST(RangeCollector, NumbersOfAnySize) {
  RangeCollector seen;
  seen.Add({0.0f, 1e-3f});
  seen.Add({-5e4f, 2.0f});
  EXPECT_TRUE(seen.negative());
  for (const RangeOptions& o : {kMinMax, Percent(100)}) {
    EXPECT_EQ(seen.Range(o).low, -5e4f);
    EXPECT_EQ(seen.Range(o).high, 2.0f);
  }
  EXPECT_GE(seen.Range(Percent(75)).low, -5e4f / RangeCollector::kBins * 4);
}

TEST(RangeCollector, PercentilesOfUniformNumbers) {
  RangeCollector seen;
  for (int part = 1; part <= 4; ++part) {  // ranges grow, so bins are joined
    std::vector<float> values;
    for (int i = 0; i < 2500; ++i) {
      values.push_back(static_cast<float>((part - 1) * 2500 + i + 1) * 1e-4f);
    }
    seen.Add(values);
  }
  for (double p : {50.0, 90.0, 99.0}) {
    EXPECT_NEAR(seen.Range(Percent(p)).high, p / 100, 1e-3) << p;
    EXPECT_EQ(seen.Range(Percent(p)).low, 0) << p;
  }
}

TEST(RangeCollector, EntropyCutsOutliersAndKeepsEvenSpreads) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  RangeCollector outlier, even;
  std::vector<float> a = Normal(100000, 7), b;
  for (int i = 0; i < 100000; ++i) b.push_back(uniform(engine));
  a.push_back(60);
  outlier.Add(a);
  even.Add(b);
  EXPECT_LT(outlier.Range(kEntropy).high, 20);
  EXPECT_GT(outlier.Range(kEntropy).high, 2);
  EXPECT_GT(even.Range(kEntropy).high, 0.9f);
}

TEST(RangeCollector, LeastErrorIsNearTheBestOfAllRanges) {
  std::vector<float> values = Normal(20000, 3);
  values.push_back(15);
  for (float& v : values) v = v / (1 + std::exp(-v));  // swish: from -0.28 on
  RangeCollector seen;
  seen.Add(values);
  const ValueRange chosen = seen.Range(kError);
  EXPECT_LT(chosen.low, -0.2f);
  EXPECT_GE(chosen.low, -0.28f);
  EXPECT_LT(chosen.high, 15);
  double best = SquaredError(values, {chosen.low, 15});
  for (float high = 0.5f; high < 15; high += 0.05f) {
    for (float low = -0.28f; low < 0; low += 0.02f) {
      best = std::min(best, SquaredError(values, {low, high}));
    }
  }
  EXPECT_LE(SquaredError(values, chosen), 1.2 * best);
}

TEST(RangeCollector, NotFiniteIsCountedApart) {
  RangeCollector seen;
  seen.Add(
      {1.0f, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()});
  EXPECT_EQ(seen.not_finite(), 2);
  EXPECT_EQ(seen.Range(Percent(100)).high, 1);
}

}  // namespace
}  // namespace tenon
