#include "tools/quantize/range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tenon {
namespace {

constexpr RangeOptions kMinMax{RangeMethod::kMinMax, 0};
RangeOptions Percent(double p) { return {RangeMethod::kPercentile, p}; }
constexpr RangeOptions kEntropy{RangeMethod::kEntropy, 0};

TEST(RangeCollector, NothingAndZeros) {
  RangeCollector seen;
  for (int i = 0; i < 2; ++i) {
    for (const RangeOptions& o : {kMinMax, Percent(99), kEntropy}) EXPECT_EQ(seen.Top(o, 127), 0);
    seen.Add(std::vector<float>(10, 0.0f));
  }
  EXPECT_FALSE(seen.negative());
}

TEST(RangeCollector, MagnitudesOfAnySize) {
  RangeCollector seen;
  seen.Add({0.0f, 1e-3f});
  seen.Add({-5e4f, 2.0f});
  EXPECT_TRUE(seen.negative());
  EXPECT_EQ(seen.Top(kMinMax, 127), 5e4f);
  EXPECT_EQ(seen.Top(Percent(100), 127), 5e4f);
  EXPECT_LE(seen.Top(Percent(75), 127), 5e4f / RangeCollector::kBins * 4);
}

TEST(RangeCollector, PercentilesOfUniformNumbers) {
  RangeCollector seen;
  for (int part = 1; part <= 4; ++part) {  // ranges grow, bins are joined
    std::vector<float> values;
    for (int i = 0; i < 2500; ++i) {
      values.push_back(static_cast<float>((part - 1) * 2500 + i + 1) * 1e-4f);
    }
    seen.Add(values);
  }
  for (double p : {50.0, 90.0, 99.0}) {
    EXPECT_NEAR(seen.Top(Percent(p), 255), p / 100, 1e-3) << p;
  }
}

TEST(RangeCollector, EntropyCutsOutliersAndKeepsEvenSpreads) {
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1, 1);
  RangeCollector outlier, even;
  std::vector<float> a, b;
  for (int i = 0; i < 100000; ++i) {
    a.push_back(normal(engine));
    b.push_back(uniform(engine));
  }
  a.push_back(60);
  outlier.Add(a);
  even.Add(b);
  EXPECT_LT(outlier.Top(kEntropy, 127), 20);
  EXPECT_GT(outlier.Top(kEntropy, 127), 2);
  EXPECT_GT(even.Top(kEntropy, 127), 0.9f);
}

TEST(RangeCollector, NotFiniteIsCountedApart) {
  RangeCollector seen;
  seen.Add(
      {1.0f, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()});
  EXPECT_EQ(seen.not_finite(), 2);
  EXPECT_EQ(seen.Top(Percent(100), 127), 1);
}

}  // namespace
}  // namespace tenon
