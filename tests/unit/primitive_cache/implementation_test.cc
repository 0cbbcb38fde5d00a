// Which implementations serve pointwise and depthwise convolutions.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "env/cpu.h"
#include "hwy/highway.h"
#include "primitive_cache/convolution.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

TensorDesc Image(int64_t size, int64_t channels) {
  return {ElementType::kF32,
          {1, channels, size, size},
          {channels * size * size, 1, channels * size, channels}};
}

std::shared_ptr<const Primitive> Pointwise(int64_t size, int64_t in, int64_t out) {
  ConvolutionProblem p;
  p.src = Image(size, in);
  p.dst = Image(size, out);
  p.weights = {ElementType::kF32, {out, in, 1, 1}, {1, out, in * out, in * out}};
  p.strides = p.dilations = {1, 1};
  p.pads_begin = p.pads_end = {0, 0};
  auto primitive = GetConvolution(p, nullptr);
  EXPECT_TRUE(primitive.ok()) << primitive.status();
  return primitive.ok() ? *primitive : nullptr;
}

bool UsesNarrowVectors(int64_t size, int64_t in, int64_t out) {
  const auto primitive = Pointwise(size, in, out);
  return primitive != nullptr && absl::StrContains(primitive->implementation(), "avx2");
}

TEST(Pointwise, VectorsFitTheChannelsWhereBothKindsAreAsFast) {
  LimitVectorCode();
  if ((hwy::SupportedTargets() & HWY_AVX3) == 0) GTEST_SKIP() << "without AVX-512";
  const bool same_speed = Halves512BitVectors();
  EXPECT_EQ(UsesNarrowVectors(56, 96, 24), same_speed);
  EXPECT_EQ(UsesNarrowVectors(7, 240, 40), same_speed);
  EXPECT_EQ(UsesNarrowVectors(56, 24, 144), same_speed);
  EXPECT_EQ(UsesNarrowVectors(7, 40, 96), same_speed);
  EXPECT_FALSE(UsesNarrowVectors(14, 384, 64));   // no lane is empty
  EXPECT_FALSE(UsesNarrowVectors(7, 112, 672));   // few positions, many products for each result
  EXPECT_FALSE(UsesNarrowVectors(14, 240, 120));  // few of many lanes are empty
}

std::string Depthwise(int64_t channels, int64_t window, ElementType type) {
  ConvolutionProblem p;
  p.src = p.dst = Image(14, channels);
  p.weights = {type, {channels, 1, 1, window, window}, {1, 1, 1, window * channels, channels}};
  p.src.type = p.dst.type = type;
  p.grouped = true;
  p.strides = p.dilations = {1, 1};
  p.pads_begin = p.pads_end = {window / 2, window / 2};
  const auto primitive = GetConvolution(p, nullptr);
  EXPECT_TRUE(primitive.ok()) << primitive.status();
  return primitive.ok() ? (*primitive)->implementation() : "";
}

TEST(Depthwise, TheOlderKernelServesSmallWindowsWhereItIsFaster) {
  LimitVectorCode();
  if ((hwy::SupportedTargets() & HWY_AVX3) == 0) GTEST_SKIP() << "without AVX-512";
  if (!Halves512BitVectors()) GTEST_SKIP() << "measured on Zen 4 only";
  EXPECT_TRUE(absl::StrContains(Depthwise(96, 3, ElementType::kF32), "jit_dw:avx512_core"));
  EXPECT_TRUE(absl::StrContains(Depthwise(40, 5, ElementType::kF32), "jit_dw:avx512_core"));
  EXPECT_TRUE(absl::StrContains(Depthwise(96, 3, ElementType::kBf16), "jit_dw:avx512_core"));
  EXPECT_FALSE(absl::StrContains(Depthwise(96, 7, ElementType::kF32), "jit_dw"));
}

}  // namespace
}  // namespace tenon
