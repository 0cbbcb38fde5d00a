// Which implementations serve pointwise and depthwise convolutions.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "env/cpu.h"
#include "hwy/highway.h"
#include "primitive_cache/convolution.h"
#include "primitive_cache/convolution_gradient.h"
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

// A line of `pixels`, 16 channels and a window of 3.
ConvolutionProblem Line(int64_t pixels) {
  constexpr int64_t c = 16;
  const TensorDesc line = {ElementType::kF32, {1, c, 1, pixels}, {c * pixels, 1, c * pixels, c}};
  ConvolutionProblem p;
  p.src = p.dst = line;
  p.weights = {ElementType::kF32, {c, c, 1, 3}, {1, c, 3 * c * c, c * c}};
  p.strides = p.dilations = {1, 1};
  p.pads_begin = p.pads_end = {0, 1};
  return p;
}

// The size of the address space, in bytes.
int64_t AddressSpace() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmSize:") continue;
    int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

// Some generators write code for each pixel: for these lines, 509 MB and 269 MB.
TEST(LongLine, CodeDoesNotGrowWithIt) {
  constexpr int64_t kPixels = 500'000, kMost = 150'000'000;
  const int64_t before = AddressSpace();
  if (before == 0) GTEST_SKIP() << "the system does not say";
  const auto result = GetConvolution(Line(kPixels), nullptr);
  EXPECT_TRUE(result.ok()) << result.status();
  const auto gradient = GetConvolutionGradient(
      {.of = ConvolutionGradientProblem::Of::kWeights, .forward = Line(kPixels)}, nullptr);
  EXPECT_TRUE(gradient.ok() || absl::IsUnimplemented(gradient.status())) << gradient.status();
  EXPECT_LE(AddressSpace() - before, kMost);
}

}  // namespace
}  // namespace tenon
