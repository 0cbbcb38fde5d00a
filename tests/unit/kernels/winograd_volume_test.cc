#include "kernels/convolution/winograd_volume.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;
using vector_test::Target;
using vector_test::Targets;
using vector_test::UseTarget;

// Sizes are depth, height, width; the padding is the same on both sides unless `out` says more.
struct Volume {
  const char* name;
  WinogradVolumeShape shape;
};

WinogradVolumeShape Make(std::array<int64_t, 3> in, std::array<int64_t, 3> pads,
                         std::array<int64_t, 3> pads_end, int64_t window_depth,
                         std::array<int64_t, 2> dilations, int64_t batch, int64_t inputs,
                         int64_t outputs) {
  WinogradVolumeShape s;
  s.batch = batch;
  s.in_channels = inputs;
  s.out_channels = outputs;
  s.in = in;
  s.pads_begin = pads;
  s.window_depth = window_depth;
  s.dilation_height = dilations[0];
  s.dilation_width = dilations[1];
  const std::array<int64_t, 3> reach = {window_depth - 1, 2 * dilations[0], 2 * dilations[1]};
  for (size_t i = 0; i < 3; ++i) s.out[i] = in[i] + pads[i] + pads_end[i] - reach[i];
  return s;
}

const Volume kVolumes[] = {
    {"cube", Make({4, 8, 8}, {1, 1, 1}, {1, 1, 1}, 3, {1, 1}, 1, 16, 16)},
    {"odd", Make({3, 7, 9}, {1, 1, 1}, {1, 1, 1}, 3, {1, 1}, 2, 17, 35)},
    {"valid", Make({5, 11, 6}, {0, 0, 0}, {0, 0, 0}, 2, {1, 1}, 1, 24, 40)},
    {"one_plane_seen", Make({1, 5, 6}, {2, 1, 1}, {2, 1, 1}, 3, {1, 1}, 1, 12, 9)},
    {"only_padding", Make({2, 6, 6}, {5, 1, 1}, {4, 1, 1}, 3, {1, 1}, 1, 9, 20)},
    {"few_channels", Make({4, 6, 5}, {1, 2, 0}, {0, 1, 3}, 3, {1, 1}, 1, 3, 1)},
    {"deepest_window", Make({9, 4, 4}, {1, 1, 1}, {2, 1, 1}, 8, {1, 1}, 1, 8, 16)},
    {"many_units", Make({5, 40, 33}, {1, 1, 1}, {1, 1, 1}, 3, {1, 1}, 2, 32, 33)},
    {"dilated_image", Make({1, 17, 14}, {0, 2, 3}, {0, 2, 3}, 1, {2, 3}, 3, 19, 34)},
    {"dilation_beyond_image", Make({1, 5, 3}, {0, 8, 8}, {0, 8, 8}, 1, {8, 8}, 1, 10, 16)},
    {"dilated_volume", Make({4, 9, 10}, {1, 4, 0}, {1, 3, 1}, 3, {4, 2}, 1, 16, 17)},
};

std::vector<float> Random(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(engine);
  return values;
}

size_t Count(std::initializer_list<int64_t> sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return static_cast<size_t>(n);
}

std::vector<double> Direct(const WinogradVolumeShape& s, const std::vector<float>& x,
                           const std::vector<float>& filter) {
  std::vector<double> y(Count({s.batch, s.out[0], s.out[1], s.out[2], s.out_channels}));
  size_t at = 0;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t position = 0; position < s.out[0] * s.out[1] * s.out[2]; ++position) {
      const int64_t column = position % s.out[2], row = position / s.out[2] % s.out[1];
      const int64_t plane = position / (s.out[1] * s.out[2]);
      for (int64_t k = 0; k < s.window_depth * 9; ++k) {
        const int64_t d = plane + k / 9 - s.pads_begin[0];
        const int64_t h = row + k / 3 % 3 * s.dilation_height - s.pads_begin[1];
        const int64_t w = column + k % 3 * s.dilation_width - s.pads_begin[2];
        if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1] || w < 0 || w >= s.in[2]) continue;
        const int64_t pixel = ((n * s.in[0] + d) * s.in[1] + h) * s.in[2] + w;
        for (int64_t c = 0; c < s.in_channels; ++c) {
          const double value = x[static_cast<size_t>(pixel * s.in_channels + c)];
          for (int64_t o = 0; o < s.out_channels; ++o) {
            y[at + static_cast<size_t>(o)] +=
                value * filter[static_cast<size_t>((k * s.in_channels + c) * s.out_channels + o)];
          }
        }
      }
      at += static_cast<size_t>(s.out_channels);
    }
  }
  return y;
}

std::vector<float> Convolve(const WinogradVolumeShape& s, WinogradTile tile, int threads,
                            const std::vector<float>& x, const std::vector<float>& filter) {
  const WinogradVolume winograd(s, tile, threads);
  // The previous contents of memory must not matter.
  auto filled = [](size_t bytes) {
    Tensor t = *Tensor::Allocate(DType::kFloat, Shape({static_cast<int64_t>(bytes / 4)}));
    std::fill_n(t.data<float>(), bytes / 4, std::numeric_limits<float>::quiet_NaN());
    return t;
  };
  Tensor transformed = filled(winograd.filter_bytes());
  winograd.TransformFilter(filter.data(), transformed.data<float>());
  Tensor scratch = filled(winograd.scratch_bytes());
  std::vector<float> y(Count({s.batch, s.out[0], s.out[1], s.out[2], s.out_channels}),
                       std::numeric_limits<float>::quiet_NaN());
  winograd.Run(x.data(), transformed.data<float>(), {}, y.data(), scratch.raw());
  return y;
}

class WinogradVolumeTest : public vector_test::TargetTest<Volume> {};

TEST_P(WinogradVolumeTest, MatchesDirectConvolution) {
  const WinogradVolumeShape s = GetCase().shape;
  const auto x = Random(Count({s.batch, s.in[0], s.in[1], s.in[2], s.in_channels}), 1);
  const auto filter = Random(Count({s.window_depth, 9, s.in_channels, s.out_channels}), 2);
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
    // As for images (winograd_test.cc): sums of random terms lose about sqrt(n) roundings.
    const double roundings = 8 + std::sqrt(static_cast<double>(s.in_channels * s.window_depth));
    const double limit = 6e-8 * roundings * (tile == WinogradTile::k4x4 ? 4 : 2) * scale;
    EXPECT_LE(error, limit) << "scale " << scale;
    EXPECT_EQ(Convolve(s, tile, 2, x, filter), y) << "threads change bits";
    EXPECT_EQ(Convolve(s, tile, 7, x, filter), y) << "threads change bits";
  }
}

INSTANTIATE_TEST_SUITE_P(Volumes, WinogradVolumeTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(kVolumes)),
                         [](const auto& info) {
                           return std::string(hwy::TargetName(std::get<0>(info.param).bit)) + "_" +
                                  std::get<1>(info.param).name;
                         });

bool IsWinograd(const RunResult& r) { return r.implementation.rfind("winograd", 0) == 0; }

AttrMap ConvAttrs(const Ints& dilations) {
  const bool volume = dilations.size() == 5;
  return {{"T", DType::kFloat},
          {"padding", "SAME"},
          {"strides", Ints(dilations.size(), 1)},
          {"dilations", dilations},
          {"data_format", volume ? "NDHWC" : "NHWC"}};
}

class WinogradVolumeKernel : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override { UseTarget(GetParam().bit); }
  void TearDown() override { UseTarget(0); }
};

// The fused chain in registers, in the cache, and over the whole result.
TEST_P(WinogradVolumeKernel, FusedChains) {
  struct Problem {
    const char* op;
    Shape image, filter, out;
    Ints dilations;
  };
  const Problem problems[] = {
      {"FusedConv3D", Shape({2, 5, 9, 11, 24}), Shape({3, 3, 3, 24, 45}), Shape({2, 5, 9, 11, 45}),
       Ints(5, 1)},
      {"FusedConv2D", Shape({2, 19, 22, 24}), Shape({3, 3, 24, 45}), Shape({2, 19, 22, 45}),
       Ints{1, 2, 3, 1}},
  };
  for (const Problem& problem : problems) {
    const Tensor x = RandomTensor(DType::kFloat, problem.image, 1);
    const Tensor w = RandomTensor(DType::kFloat, problem.filter, 2, -0.1f, 0.1f);
    const Tensor bias = RandomTensor(DType::kFloat, Shape({45}), 3);
    const Tensor residual = RandomTensor(DType::kFloat, problem.out, 4);
    struct Chain {
      Names ops;
      std::vector<Tensor> args;
    };
    const Chain chains[] = {{{"BiasAdd"}, {bias}},
                            {{"BiasAdd", "Add", "Relu"}, {bias, residual}},
                            {{"BiasAdd", "Relu6", "Mul"}, {bias, residual}},
                            {{"BiasAdd", "Tanh"}, {bias}}};
    for (const Chain& chain : chains) {
      SCOPED_TRACE(std::string(problem.op) + " " + chain.ops.back());
      AttrMap attrs = ConvAttrs(problem.dilations);
      attrs["fused_ops"] = chain.ops;
      attrs["num_args"] = static_cast<int64_t>(chain.args.size());
      std::vector<Tensor> inputs = {x, w};
      inputs.insert(inputs.end(), chain.args.begin(), chain.args.end());
      const int64_t terms = problem.filter.num_elements() / 45;
      for (bool in_place : {false, true}) {
        const NodeRunOptions options{
            .threads = in_place ? 1 : 2, .constants = {1}, .in_place = in_place};
        ExpectNativeMatches(std::string("_") + problem.op, attrs, inputs, options, terms);
      }
      auto run = RunNode(MakeNode(std::string("_MklNative") + problem.op, attrs), inputs,
                         {.constants = {1}});
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_TRUE(IsWinograd(*run)) << run->implementation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradVolumeKernel, testing::ValuesIn(Targets()),
                         [](const auto& info) {
                           return std::string(hwy::TargetName(info.param.bit));
                         });

TEST(WinogradVolumeChoice, WhereItRuns) {
  auto runs = [](const char* op, const Shape& image, const Shape& filter, const AttrMap& attrs,
                 const NodeRunOptions& options) {
    absl::StatusOr<RunResult> run = RunNode(
        MakeNode(op, attrs),
        {RandomTensor(DType::kFloat, image, 1), RandomTensor(DType::kFloat, filter, 2)}, options);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() && IsWinograd(*run);
  };
  const char* const volumes = "_MklNativeConv3D";
  const Shape volume({1, 4, 12, 12, 32}), cube({3, 3, 3, 32, 32});
  const AttrMap dense = ConvAttrs(Ints(5, 1));
  EXPECT_TRUE(runs(volumes, volume, cube, dense, {.constants = {1}}));
  EXPECT_TRUE(runs(volumes, volume, Shape({1, 3, 3, 32, 32}), dense, {.constants = {1}}));
  EXPECT_FALSE(runs(volumes, volume, cube, dense, {}));
  EXPECT_FALSE(runs(volumes, volume, cube, dense, {.strict_nan = true, .constants = {1}}));
  EXPECT_FALSE(runs(volumes, volume, cube, dense, {.winograd = false, .constants = {1}}));
  EXPECT_FALSE(runs(volumes, volume, Shape({3, 1, 1, 32, 32}), dense, {.constants = {1}}));
  EXPECT_FALSE(runs(volumes, volume, Shape({9, 3, 3, 32, 8}), dense, {.constants = {1}}));
  EXPECT_FALSE(runs(volumes, volume, cube, ConvAttrs({1, 2, 1, 1, 1}), {.constants = {1}}));

  const char* const images = "_MklNativeConv2D";
  const Shape filter({3, 3, 32, 32});
  const AttrMap dilated = ConvAttrs({1, 2, 2, 1});
  EXPECT_TRUE(runs(images, Shape({1, 32, 32, 32}), filter, dilated, {.constants = {1}}));
  // Phases of one or two rows: mostly padding of tiles.
  EXPECT_FALSE(
      runs(images, Shape({1, 8, 8, 32}), filter, ConvAttrs({1, 6, 6, 1}), {.constants = {1}}));
}

}  // namespace
}  // namespace tenon
