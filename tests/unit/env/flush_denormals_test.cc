#include "env/flush_denormals.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace tenon {
namespace {

float Twice(float x) {
  volatile float v = x;
  return v + v;
}

constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

TEST(FlushDenormals, OnlyInItsScope) {
  ASSERT_NE(Twice(kDenormal), 0);
  {
    const FlushDenormals flush;
    EXPECT_EQ(Twice(kDenormal), 0);
    { const FlushDenormals again; }
    EXPECT_EQ(Twice(kDenormal), 0);
  }
  EXPECT_NE(Twice(kDenormal), 0);
}

TEST(FlushDenormals, ThreadsThatStartMeanwhileInheritIt) {
  const FlushDenormals flush;
  float result = 1;
  std::thread([&] { result = Twice(kDenormal); }).join();
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace tenon
