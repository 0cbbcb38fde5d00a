#include "kernels/convolution/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;
using vector_test::Target;
using vector_test::Targets;
using vector_test::UseTarget;

struct Image {
  const char* name;
  int64_t batch = 1, height = 8, width = 8, inputs = 16, outputs = 16;
  Ints pads = {1, 1, 1, 1};  // top, bottom, left, right
};

const Image kImages[] = {
    {.name = "whole_tiles"},
    {.name = "odd", .height = 7, .width = 9, .inputs = 17, .outputs = 35},
    {.name = "valid", .height = 11, .width = 6, .inputs = 24, .outputs = 40, .pads = {0, 0, 0, 0}},
    {.name = "one_output", .height = 3, .width = 3, .inputs = 33, .pads = {0, 0, 0, 0}},
    {.name = "asymmetric", .height = 5, .width = 13, .outputs = 9, .pads = {0, 2, 3, 1}},
    {.name = "wide_pads", .height = 2, .width = 1, .inputs = 12, .pads = {4, 5, 6, 4}},
    {.name = "batch", .batch = 5, .height = 9, .width = 10, .inputs = 19, .outputs = 67},
    {.name = "few_channels", .inputs = 1, .outputs = 1},
    {.name = "many_blocks", .height = 70, .width = 51, .inputs = 64, .outputs = 33},
    {.name = "many_inputs", .height = 7, .width = 7, .inputs = 520, .outputs = 48},
};

std::vector<float> Random(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(engine);
  return values;
}

WinogradShape ShapeOf(const Image& c) {
  return {.batch = c.batch,
          .in_height = c.height,
          .in_width = c.width,
          .in_channels = c.inputs,
          .out_height = c.height + c.pads[0] + c.pads[1] - 2,
          .out_width = c.width + c.pads[2] + c.pads[3] - 2,
          .out_channels = c.outputs,
          .pad_top = c.pads[0],
          .pad_left = c.pads[2]};
}

std::vector<double> Direct(const WinogradShape& s, const std::vector<float>& x,
                           const std::vector<float>& filter) {
  std::vector<double> y;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t h = 0; h < s.out_height; ++h) {
      for (int64_t w = 0; w < s.out_width; ++w) {
        const size_t at = y.size();
        y.resize(at + static_cast<size_t>(s.out_channels));
        for (int64_t k = 0; k < 9; ++k) {
          const int64_t i = h + k / 3 - s.pad_top, j = w + k % 3 - s.pad_left;
          if (i < 0 || i >= s.in_height || j < 0 || j >= s.in_width) continue;
          const float* pixel =
              &x[static_cast<size_t>(((n * s.in_height + i) * s.in_width + j) * s.in_channels)];
          for (int64_t c = 0; c < s.in_channels; ++c) {
            const float* row =
                &filter[static_cast<size_t>((k * s.in_channels + c) * s.out_channels)];
            for (int64_t o = 0; o < s.out_channels; ++o) {
              y[at + static_cast<size_t>(o)] += double{pixel[c]} * row[o];
            }
          }
        }
      }
    }
  }
  return y;
}

std::vector<float> Convolve(const WinogradShape& s, WinogradTile tile, int threads,
                            const std::vector<float>& x, const std::vector<float>& filter) {
  const Winograd winograd(s, tile, threads);
  // The previous contents of memory must not matter.
  auto filled = [](size_t bytes) {
    Tensor t = *Tensor::Allocate(DType::kFloat, Shape({static_cast<int64_t>(bytes / 4)}));
    std::fill_n(t.data<float>(), bytes / 4, std::numeric_limits<float>::quiet_NaN());
    return t;
  };
  Tensor transformed = filled(winograd.filter_bytes());
  winograd.TransformFilter(filter.data(), transformed.data<float>());
  Tensor scratch = filled(winograd.scratch_bytes());
  std::vector<float> y(static_cast<size_t>(s.batch * s.out_height * s.out_width * s.out_channels),
                       std::numeric_limits<float>::quiet_NaN());
  winograd.Run(x.data(), transformed.data<float>(), {}, y.data(), scratch.raw());
  return y;
}

class WinogradTest : public vector_test::TargetTest<Image> {};

TEST_P(WinogradTest, MatchesDirectConvolution) {
  const WinogradShape s = ShapeOf(GetCase());
  const auto x = Random(static_cast<size_t>(s.batch * s.in_height * s.in_width * s.in_channels), 1);
  const auto filter = Random(static_cast<size_t>(9 * s.in_channels * s.out_channels), 2);
  const std::vector<double> expected = Direct(s, x, filter);
  double scale = 0;
  for (double v : expected) scale = std::max(scale, std::abs(v));
  for (WinogradTile tile : {WinogradTile::k2x2, WinogradTile::k4x4}) {
    const std::vector<float> y = Convolve(s, tile, 1, x, filter);
    ASSERT_EQ(y.size(), expected.size());
    double error = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_FALSE(std::isnan(y[i])) << i;
      error = std::max(error, std::abs(y[i] - expected[i]));
    }
    // Sums of random terms lose about sqrt(n) roundings; the larger tile's transforms amplify them.
    const double roundings = 8 + std::sqrt(static_cast<double>(s.in_channels));
    const double limit = 6e-8 * roundings * (tile == WinogradTile::k4x4 ? 4 : 2) * scale;
    EXPECT_LE(error, limit) << "scale " << scale;
    EXPECT_EQ(Convolve(s, tile, 2, x, filter), y) << "threads change bits";
    EXPECT_EQ(Convolve(s, tile, 3, x, filter), y) << "threads change bits";
  }
}

INSTANTIATE_TEST_SUITE_P(Images, WinogradTest,
                         testing::Combine(testing::ValuesIn(Targets()), testing::ValuesIn(kImages)),
                         [](const auto& info) {
                           return std::string(hwy::TargetName(std::get<0>(info.param).bit)) + "_" +
                                  std::get<1>(info.param).name;
                         });

AttrMap ConvAttrs(const std::string& padding = "SAME") {
  return {{"T", DType::kFloat},
          {"padding", padding},
          {"strides", Ints{1, 1, 1, 1}},
          {"dilations", Ints{1, 1, 1, 1}},
          {"data_format", "NHWC"}};
}

bool IsWinograd(const RunResult& r) { return r.implementation.rfind("winograd", 0) == 0; }

class WinogradKernel : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override { UseTarget(GetParam().bit); }
  void TearDown() override { UseTarget(0); }
};

TEST_P(WinogradKernel, FusedChains) {
  const Shape image({2, 9, 7, 24}), filter({3, 3, 24, 45}), out({2, 9, 7, 45});
  const Tensor x = RandomTensor(DType::kFloat, image, 1),
               w = RandomTensor(DType::kFloat, filter, 2);
  const Tensor bias = RandomTensor(DType::kFloat, Shape({45}), 3);
  const Tensor residual = RandomTensor(DType::kFloat, out, 4);
  const Tensor factor = RandomTensor(DType::kFloat, out, 5);
  const Tensor scalar = RandomTensor(DType::kFloat, Shape({}), 6);
  const Tensor per_image = RandomTensor(DType::kFloat, Shape({2, 1, 1, 45}), 7);
  const Tensor per_channel = RandomTensor(DType::kFloat, Shape({1, 1, 45}), 8);
  const Tensor variance = RandomTensor(DType::kFloat, Shape({45}), 9, 0.5f, 2.0f);
  struct Chain {
    Names ops;
    std::vector<Tensor> args;
  };
  const Chain chains[] = {
      {{"BiasAdd"}, {bias}},
      {{"Relu"}, {}},
      {{"BiasAdd", "Relu6"}, {bias}},
      {{"BiasAdd", "Add", "Relu"}, {bias, residual}},
      {{"BiasAdd", "Relu", "Add"}, {bias, residual}},
      {{"Add", "Relu", "Mul"}, {residual, factor}},
      {{"Add", "Relu", "Mul"}, {residual, residual}},
      {{"BiasAdd", "Add", "Add", "Relu"}, {bias, residual, residual}},
      {{"Add", "Mul"}, {scalar, per_channel}},
      {{"Mul", "BiasAdd", "Tanh"}, {per_image, bias}},
      {{"Elu"}, {}},
      {{"Selu"}, {}},
      {{"LeakyRelu", "Add"}, {residual}},
      {{"BiasAdd", "Tanh"}, {bias}},
      {{"BiasAdd", "Sigmoid", "Mul"}, {bias, residual}},
      {{"Softplus"}, {}},
      {{"GeluExact"}, {}},
      {{"GeluApproximate"}, {}},
      {{"BiasAdd", "_MklSwish"}, {bias}},
      {{"_FusedHardSwish"}, {}},
      {{"_MklFusedMish"}, {}},
      {{"Square", "Sqrt", "Exp"}, {}},
      {{"Abs"}, {}},
      {{"BiasAdd", "FusedBatchNorm", "Relu"}, {bias, bias, bias, bias, variance}},
  };
  for (const Chain& chain : chains) {
    AttrMap attrs = ConvAttrs();
    attrs["fused_ops"] = chain.ops;
    attrs["num_args"] = static_cast<int64_t>(chain.args.size());
    attrs["leakyrelu_alpha"] = 0.3f;
    attrs["epsilon"] = 0.001f;
    // Small, so that Exp stays in range.
    Tensor small = *w.Clone();
    for (int64_t i = 0; i < small.num_elements(); ++i) small.data<float>()[i] *= 0.1f;
    std::vector<Tensor> inputs = {x, small};
    inputs.insert(inputs.end(), chain.args.begin(), chain.args.end());
    std::string label;
    for (const std::string& name : chain.ops) label += name + " ";
    SCOPED_TRACE(label);
    for (bool in_place : {false, true}) {
      const NodeRunOptions options{
          .threads = in_place ? 1 : 2, .cache = in_place, .constants = {1}, .in_place = in_place};
      ExpectNativeMatches("_FusedConv2D", attrs, inputs, options, 9 * 24);
    }
    absl::StatusOr<RunResult> run =
        RunNode(MakeNode("_MklNativeFusedConv2D", attrs), inputs, {.constants = {1}});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(IsWinograd(*run)) << run->implementation;
  }
}

Tensor Widened(const Tensor& t) {
  Tensor wide = *Tensor::Allocate(DType::kFloat, t.shape());
  WidenBfloat16(t.data<uint16_t>(), wide.data<float>(), static_cast<size_t>(t.num_elements()));
  return wide;
}

// Intermediate values are float, whatever the images' dtype.
TEST_P(WinogradKernel, Bfloat16IsFloatRoundedOnce) {
  if (Bfloat16Speed() > 2) GTEST_SKIP() << "direct convolution is faster on this CPU";
  const Shape filter({3, 3, 49, 67}), out({1, 27, 30, 67});
  std::vector<Tensor> narrow{RandomTensor(DType::kBfloat16, Shape({1, 27, 30, 49}), 1),
                             RandomTensor(DType::kBfloat16, filter, 2),
                             RandomTensor(DType::kBfloat16, Shape({67}), 3),
                             RandomTensor(DType::kBfloat16, out, 4)};
  std::vector<Tensor> wide;
  for (const Tensor& t : narrow) wide.push_back(Widened(t));
  for (const Names& ops : {Names{"BiasAdd"}, Names{"BiasAdd", "Add", "Relu"}}) {
    for (bool in_place : {false, true}) {
      auto run = [&](DType dtype, std::vector<Tensor> inputs) {
        inputs.resize(ops.size() == 1 ? 3 : 4);
        AttrMap attrs = ConvAttrs();
        attrs["T"] = dtype;
        attrs["fused_ops"] = ops;
        attrs["num_args"] = static_cast<int64_t>(inputs.size()) - 2;
        return RunNode(MakeNode("_MklNativeFusedConv2D", attrs), inputs,
                       {.threads = 2, .constants = {1}, .in_place = in_place});
      };
      const absl::StatusOr<RunResult> got = run(DType::kBfloat16, narrow);
      const absl::StatusOr<RunResult> want = run(DType::kFloat, wide);
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_TRUE(want.ok()) << want.status();
      EXPECT_TRUE(IsWinograd(*got)) << got->implementation;
      ASSERT_TRUE(IsWinograd(*want)) << want->implementation;
      const Tensor& y = want->outputs[0];
      std::vector<uint16_t> rounded(static_cast<size_t>(y.num_elements()));
      NarrowToBfloat16(y.data<float>(), rounded.data(), rounded.size());
      const uint16_t* const bits = got->outputs[0].data<uint16_t>();
      EXPECT_EQ(std::vector<uint16_t>(bits, bits + rounded.size()), rounded);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradKernel, testing::ValuesIn(Targets()),
                         [](const auto& info) {
                           return std::string(hwy::TargetName(info.param.bit));
                         });

TEST(WinogradChoice, WhereItRuns) {
  auto runs = [](const Shape& image, const Shape& filter, const AttrMap& attrs,
                 const NodeRunOptions& options) {
    absl::StatusOr<RunResult> run = RunNode(
        MakeNode("_MklNativeConv2D", attrs),
        {RandomTensor(DType::kFloat, image, 1), RandomTensor(DType::kFloat, filter, 2)}, options);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() && IsWinograd(*run);
  };
  const Shape image({1, 12, 12, 32}), filter({3, 3, 32, 32});
  EXPECT_TRUE(runs(image, filter, ConvAttrs(), {.constants = {1}}));
  EXPECT_TRUE(runs(image, filter, ConvAttrs("VALID"), {.constants = {1}}));
  EXPECT_FALSE(runs(image, filter, ConvAttrs(), {}));
  EXPECT_FALSE(runs(image, filter, ConvAttrs(), {.strict_nan = true, .constants = {1}}));
  EXPECT_FALSE(runs(image, filter, ConvAttrs(), {.winograd = false, .constants = {1}}));
  EXPECT_FALSE(runs(image, Shape({1, 3, 32, 32}), ConvAttrs(), {.constants = {1}}));
  EXPECT_FALSE(runs(image, Shape({3, 3, 16, 32}), ConvAttrs(), {.constants = {1}}));
  EXPECT_FALSE(runs(Shape({1, 2, 2, 32}), filter, ConvAttrs(), {.constants = {1}}));
  EXPECT_FALSE(runs(Shape({1, 12, 12, 3}), Shape({3, 3, 3, 32}), ConvAttrs(), {.constants = {1}}));
  AttrMap strided = ConvAttrs();
  strided["strides"] = Ints{1, 2, 2, 1};
  EXPECT_FALSE(runs(image, filter, strided, {.constants = {1}}));
}

}  // namespace
}  // namespace tenon
