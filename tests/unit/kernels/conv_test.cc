#include <gtest/gtest.h>

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/elementwise/elementwise.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;

struct ConvCase {
  const char* name;
  bool depthwise = false;
  Shape input, filter;
  std::string padding = "SAME";
  int64_t stride = 1;
  int64_t dilation = 1;
  Ints explicit_paddings = {};
  bool nchw = false;
};

const ConvCase kCases[] = {
    {.name = "plain", .input = {1, 9, 7, 16}, .filter = {3, 3, 16, 32}},
    {.name = "one_by_one", .input = {2, 5, 5, 17}, .filter = {1, 1, 17, 13}},
    {.name = "one_pixel", .input = {1, 1, 1, 300}, .filter = {1, 1, 300, 37}, .stride = 2},
    {.name = "one_pixel_batch", .input = {7, 1, 1, 5}, .filter = {1, 1, 5, 33}},
    {.name = "one_pixel_many", .input = {19, 1, 1, 40}, .filter = {1, 1, 40, 33}, .stride = 2},
    {.name = "few_pixels", .input = {2, 1, 3, 67}, .filter = {1, 1, 67, 16}},
    {.name = "small_images", .input = {5, 2, 3, 24}, .filter = {1, 1, 24, 48}},
    {.name = "dots", .input = {2, 9, 11, 7}, .filter = {5, 4, 7, 3}},
    {.name = "dots_one_output", .input = {1, 5, 13, 64}, .filter = {3, 3, 64, 1}},
    {.name = "dots_many_outputs", .input = {1, 7, 17, 12}, .filter = {5, 5, 12, 7}},
    {.name = "dots_strided", .input = {2, 12, 15, 33}, .filter = {3, 5, 33, 4}, .stride = 2},
    {.name = "dots_dilated", .input = {1, 11, 12, 24}, .filter = {3, 3, 24, 5}, .dilation = 3},
    {.name = "dots_beyond_image", .input = {1, 3, 2, 9}, .filter = {7, 9, 9, 2}},
    {.name = "dots_dilated_beyond_image",
     .input = {1, 4, 3, 24},
     .filter = {3, 3, 24, 2},
     .dilation = 4},
    {.name = "dots_valid", .input = {3, 7, 7, 50}, .filter = {7, 7, 50, 2}, .padding = "VALID"},
    {.name = "dots_explicit",
     .input = {1, 6, 9, 19},
     .filter = {3, 4, 19, 3},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 4, 1, 0, 7, 0, 0}},
    {.name = "dots_long_sums", .input = {1, 3, 10, 1500}, .filter = {3, 3, 1500, 2}},
    {.name = "dots_one_pixel_filter", .input = {1, 6, 5, 70}, .filter = {1, 1, 70, 2}},
    {.name = "padded", .input = {2, 10, 13, 5}, .filter = {9, 11, 5, 24}},
    {.name = "padded_line", .input = {1, 1, 500, 3}, .filter = {1, 40, 3, 16}, .stride = 4},
    {.name = "padded_beyond_image", .input = {2, 3, 2, 8}, .filter = {5, 19, 8, 16}},
    {.name = "padded_explicit",
     .input = {1, 6, 9, 8},
     .filter = {3, 4, 8, 16},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 7, 1, 13, 3, 0, 0}},
    {.name = "wide_padding_nchw",
     .input = {2, 16, 12, 11},
     .filter = {9, 11, 16, 16},
     .nchw = true},
    {.name = "padded_depthwise",
     .depthwise = true,
     .input = {2, 9, 17, 20},
     .filter = {3, 21, 20, 1}},
    {.name = "padded_depthwise_line",
     .depthwise = true,
     .input = {1, 1, 300, 24},
     .filter = {1, 15, 24, 1}},
    {.name = "depthwise_wide_padding_nchw",
     .depthwise = true,
     .input = {1, 16, 4, 19},
     .filter = {5, 13, 16, 1},
     .nchw = true},
    {.name = "repeated_channels",
     .depthwise = true,
     .input = {2, 7, 9, 13},
     .filter = {3, 3, 13, 2}},
    {.name = "depthwise_multiplier_valid",
     .depthwise = true,
     .input = {1, 11, 9, 6},
     .filter = {3, 5, 6, 3},
     .padding = "VALID",
     .stride = 2},
    {.name = "small_groups", .input = {2, 9, 15, 32}, .filter = {3, 3, 4, 32}},
    {.name = "small_groups_of_two", .input = {1, 7, 8, 22}, .filter = {3, 4, 2, 22}, .stride = 2},
    {.name = "small_groups_dilated",
     .input = {1, 8, 13, 20},
     .filter = {3, 3, 4, 20},
     .dilation = 2},
    {.name = "small_groups_pointwise", .input = {1, 3, 5, 12}, .filter = {1, 1, 4, 12}},
    {.name = "small_groups_beyond_image", .input = {1, 2, 1, 8}, .filter = {5, 5, 4, 8}},
    {.name = "groups_of_three", .input = {1, 6, 7, 9}, .filter = {3, 3, 3, 9}},
    {.name = "groups_of_one_to_four", .input = {1, 6, 7, 8}, .filter = {3, 3, 1, 32}},
    {.name = "one_by_one_strided", .input = {1, 8, 8, 64}, .filter = {1, 1, 64, 32}, .stride = 2},
    {.name = "image", .input = {1, 31, 33, 3}, .filter = {7, 7, 3, 64}, .stride = 2},
    {.name = "image_3x3", .input = {1, 32, 32, 3}, .filter = {3, 3, 3, 32}, .stride = 2},
    {.name = "one_channel", .input = {3, 10, 10, 1}, .filter = {3, 3, 1, 1}, .padding = "VALID"},
    {.name = "odd", .input = {2, 11, 6, 5}, .filter = {2, 4, 5, 7}, .stride = 3},
    {.name = "dilated", .input = {1, 12, 12, 8}, .filter = {3, 3, 8, 24}, .dilation = 2},
    {.name = "explicit",
     .input = {1, 9, 9, 8},
     .filter = {3, 3, 8, 16},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 0, 1, 2, 3, 0, 0}},
    {.name = "grouped", .input = {1, 7, 7, 32}, .filter = {3, 3, 8, 64}},
    {.name = "nchw", .input = {2, 16, 7, 9}, .filter = {3, 3, 16, 8}, .nchw = true},
    {.name = "window_is_image", .input = {2, 4, 4, 8}, .filter = {4, 4, 8, 10}, .padding = "VALID"},
    {.name = "asymmetric", .input = {1, 17, 17, 32}, .filter = {1, 7, 32, 24}},
    // Filters large enough for a matrix product if they are not constant.
    {.name = "large_filter", .input = {1, 7, 7, 160}, .filter = {3, 3, 160, 192}},
    {.name = "large_filter_explicit",
     .input = {2, 9, 8, 130},
     .filter = {3, 4, 130, 177},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 0, 3, 2, 1, 0, 0}},
    {.name = "large_filter_dilated",
     .input = {1, 8, 8, 130},
     .filter = {3, 3, 130, 230},
     .dilation = 2},
    {.name = "large_filter_1x1", .input = {3, 7, 7, 513}, .filter = {1, 1, 513, 520}},
    // With AVX2, rows gathered for one matrix product.
    {.name = "gathered", .input = {2, 1, 301, 17}, .filter = {1, 3, 17, 19}},
    {.name = "gathered_channels", .input = {1, 1, 40, 300}, .filter = {1, 4, 300, 33}},
    {.name = "gathered_strided",
     .input = {2, 1, 157, 67},
     .filter = {1, 3, 67, 35},
     .padding = "VALID",
     .stride = 2},
    {.name = "gathered_filter", .input = {3, 15, 14, 128}, .filter = {3, 3, 128, 131}, .stride = 2},
    {.name = "gathered_column", .input = {1, 9, 7, 260}, .filter = {3, 1, 260, 200}},
    {.name = "gathered_patches",
     .input = {2, 13, 11, 64},
     .filter = {2, 2, 64, 21},
     .padding = "VALID",
     .stride = 2},
    {.name = "gathered_outside_the_image",
     .input = {1, 3, 5, 16},
     .filter = {1, 9, 16, 17},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 5, 2, 12, 21, 0, 0}},
    // With AVX2, windows computed tap by tap.
    {.name = "taps", .input = {2, 1, 301, 17}, .filter = {1, 3, 17, 19}, .dilation = 70},
    {.name = "taps_of_many_channels",
     .input = {1, 1, 80, 300},
     .filter = {1, 4, 300, 33},
     .dilation = 20},
    {.name = "taps_causal",
     .input = {2, 1, 190, 24},
     .filter = {1, 2, 24, 40},
     .padding = "EXPLICIT",
     .dilation = 64,
     .explicit_paddings = {0, 0, 0, 0, 64, 0, 0, 0}},
    {.name = "taps_of_an_image",
     .input = {2, 21, 19, 16},
     .filter = {3, 3, 16, 32},
     .dilation = 12},
    {.name = "taps_valid",
     .input = {3, 2, 50, 32},
     .filter = {1, 5, 32, 16},
     .padding = "VALID",
     .dilation = 9},
    {.name = "taps_outside_the_image",
     .input = {1, 3, 5, 16},
     .filter = {2, 2, 16, 16},
     .padding = "EXPLICIT",
     .dilation = 5,
     .explicit_paddings = {0, 0, 9, 30, 40, 7, 0, 0}},
    // Large enough for Winograd's algorithm if the filter is constant.
    {.name = "winograd", .input = {1, 28, 28, 32}, .filter = {3, 3, 32, 48}},
    {.name = "winograd_valid",
     .input = {3, 17, 19, 32},
     .filter = {3, 3, 32, 64},
     .padding = "VALID"},
    {.name = "winograd_odd", .input = {2, 13, 11, 49}, .filter = {3, 3, 49, 67}},
    {.name = "winograd_explicit",
     .input = {1, 27, 18, 64},
     .filter = {3, 3, 64, 32},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 0, 2, 1, 0, 0, 0}},
    {.name = "winograd_small_image", .input = {8, 7, 7, 128}, .filter = {3, 3, 128, 32}},
    {.name = "winograd_nchw", .input = {1, 32, 21, 21}, .filter = {3, 3, 32, 32}, .nchw = true},
    {.name = "depthwise", .depthwise = true, .input = {1, 14, 14, 96}, .filter = {3, 3, 96, 1}},
    {.name = "depthwise_strided",
     .depthwise = true,
     .input = {2, 15, 13, 20},
     .filter = {5, 5, 20, 1},
     .stride = 2},
    {.name = "depthwise_multiplier",
     .depthwise = true,
     .input = {1, 8, 8, 6},
     .filter = {3, 3, 6, 3}},
    {.name = "depthwise_nchw",
     .depthwise = true,
     .input = {1, 24, 8, 8},
     .filter = {3, 3, 24, 1},
     .nchw = true},
    {.name = "depthwise_one_pixel",
     .depthwise = true,
     .input = {1, 1, 1, 40},
     .filter = {3, 3, 40, 1}},
    {.name = "depthwise_one_channel",
     .depthwise = true,
     .input = {1, 8, 8, 1},
     .filter = {3, 3, 1, 4}},
};

AttrMap ConvAttrs(const ConvCase& c, DType dtype) {
  const int64_t s = c.stride, d = c.dilation;
  AttrMap attrs{{"T", dtype}, {"padding", c.padding}};
  attrs["strides"] = c.nchw ? Ints{1, 1, s, s} : Ints{1, s, s, 1};
  attrs["dilations"] = c.nchw ? Ints{1, 1, d, d} : Ints{1, d, d, 1};
  attrs["data_format"] = c.nchw ? "NCHW" : "NHWC";
  attrs["explicit_paddings"] = c.explicit_paddings;
  return attrs;
}

int64_t Length(const ConvCase& c) {
  return c.filter[0] * c.filter[1] * (c.depthwise ? 1 : c.filter[2]);
}

class Conv : public testing::TestWithParam<ConvCase> {};

TEST_P(Conv, MatchesReference) {
  const ConvCase& c = GetParam();
  const std::string op = c.depthwise ? "DepthwiseConv2dNative" : "Conv2D";
  const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, c.input, 1),
                                      RandomTensor(DType::kFloat, c.filter, 2)};
  for (int threads : {1, 2}) {
    for (bool constant : {false, true}) {
      NodeRunOptions options{.threads = threads, .cache = constant};
      if (constant) options.constants = {1};
      ExpectNativeMatches(op, ConvAttrs(c, DType::kFloat), inputs, options, Length(c));
    }
  }
}

TEST_P(Conv, FusedMatchesReference) {
  const ConvCase& c = GetParam();
  const std::string op = c.depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D";
  AttrMap attrs = ConvAttrs(c, DType::kFloat);
  const std::vector<Tensor> plain = {RandomTensor(DType::kFloat, c.input, 3),
                                     RandomTensor(DType::kFloat, c.filter, 4)};
  absl::StatusOr<RunResult> conv =
      RunNode(MakeNode(c.depthwise ? "DepthwiseConv2dNative" : "Conv2D", attrs), plain, {});
  ASSERT_TRUE(conv.ok()) << conv.status();
  const Shape out = conv->outputs[0].shape();
  const int64_t channels = out[c.nchw ? 1 : 3];
  const Tensor bias = RandomTensor(DType::kFloat, Shape({channels}), 5);
  const Tensor residual = RandomTensor(DType::kFloat, out, 6);
  const Tensor scale = RandomTensor(
      DType::kFloat, c.nchw ? Shape({out[0], channels, 1, 1}) : Shape({out[0], 1, 1, channels}), 7);

  struct Chain {
    Names ops;
    std::vector<Tensor> args;
  };
  const Chain chains[] = {
      {{"BiasAdd"}, {bias}},
      {{"Relu"}, {}},
      {{"BiasAdd", "Relu6"}, {bias}},
      {{"BiasAdd", "Elu"}, {bias}},
      {{"BiasAdd", "Add", "Relu"}, {bias, residual}},
      {{"BiasAdd", "Relu", "Add"}, {bias, residual}},
      {{"Add"}, {residual}},
      {{"Add", "LeakyRelu"}, {residual}},
      {{"BiasAdd", "Sigmoid", "Mul"}, {bias, residual}},
      {{"BiasAdd", "_MklSwish"}, {bias}},
      {{"BiasAdd", "GeluExact"}, {bias}},
      {{"BiasAdd", "_FusedHardSwish"}, {bias}},
      {{"Mul", "BiasAdd", "Tanh"}, {scale, bias}},
      {{"BiasAdd", "Add", "Add", "Relu"}, {bias, residual, residual}},
      {{"FusedBatchNorm", "Relu"},
       {bias, bias, bias, RandomTensor(DType::kFloat, Shape({channels}), 8, 0.5f, 2.0f)}},
  };
  for (const Chain& chain : chains) {
    attrs["fused_ops"] = chain.ops;
    attrs["num_args"] = static_cast<int64_t>(chain.args.size());
    attrs["leakyrelu_alpha"] = 0.3f;
    attrs["epsilon"] = 0.001f;
    std::vector<Tensor> inputs = plain;
    inputs.insert(inputs.end(), chain.args.begin(), chain.args.end());
    std::string label;
    for (const std::string& name : chain.ops) label += name + " ";
    SCOPED_TRACE(label);
    for (bool in_place : {false, true}) {
      ExpectNativeMatches(op, attrs, inputs, {.threads = 2, .constants = {1}, .in_place = in_place},
                          Length(c));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Conv, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(OwnConvolutions, ServeWhatOnednnComputesSlowly) {
  if (VectorTargetName() != std::string("AVX2") ||
      !absl::StartsWith(OnednnIdentity(), "onednn 2.")) {
    GTEST_SKIP() << "oneDNN has better kernels";
  }
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool taps = absl::StartsWith(c.name, "taps");
    if (!taps && !absl::StartsWith(c.name, "gathered")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, taps ? "taps" : "gathered blocks") << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 13);
}

TEST(OwnConvolutions, ServePaddingThatOnednnComputesSlowly) {
  if (VectorTargetName() != std::string("AVX2") ||
      !absl::StartsWith(OnednnIdentity(), "onednn 2.")) {
    GTEST_SKIP() << "oneDNN has better kernels";
  }
  int cases = 0;
  for (const ConvCase& c : kCases) {
    if (!absl::StartsWith(c.name, "padded") && !absl::StartsWith(c.name, "repeated")) continue;
    const auto got =
        RunNode(MakeNode(c.depthwise ? "_MklNativeDepthwiseConv2dNative" : "_MklNativeConv2D",
                         ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(absl::StartsWith(got->implementation, "padded:jit"))
        << c.name << " " << got->implementation;
    ++cases;
  }
  EXPECT_EQ(cases, 7);
}

// Those whose names begin with the implementation's.
TEST(OwnConvolutions, ServeFewOutputsAndSmallGroups) {
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool dots = absl::StartsWith(c.name, "dots");
    if (!dots && !absl::StartsWith(c.name, "small_groups")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, dots ? "dots" : "small groups") << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 16);
}

TEST(OwnConvolutions, ServeFewPixels) {
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool few = absl::StartsWith(c.name, "few_pixels");
    if (!few && !absl::StartsWith(c.name, "one_pixel")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation == "panels", c.input[0] * c.input[1] * c.input[2] <= 8) << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 4);
}

TEST(ConvShapes, EmptyBatchAndChannels) {
  struct Case {
    Shape input, filter, output;
  };
  for (const Case& c : {Case{{0, 4, 4, 2}, {3, 3, 2, 5}, {0, 4, 4, 5}},
                        Case{{1, 4, 4, 0}, {3, 3, 0, 5}, {1, 4, 4, 5}},
                        Case{{1, 4, 4, 2}, {3, 3, 2, 0}, {1, 4, 4, 0}}}) {
    for (const char* op : {"_FusedConv2D", "_MklNativeFusedConv2D"}) {
      const AttrMap attrs{{"T", DType::kFloat},
                          {"padding", "SAME"},
                          {"strides", Ints{1, 1, 1, 1}},
                          {"num_args", 1},
                          {"fused_ops", Names{"BiasAdd"}}};
      const Tensor bias = RandomTensor(DType::kFloat, Shape({c.output[3]}), 1);
      absl::StatusOr<RunResult> got = RunNode(
          MakeNode(op, attrs),
          {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2), bias},
          {});
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(got->outputs[0].shape(), c.output);
      for (int64_t i = 0; i < got->outputs[0].num_elements(); ++i) {
        EXPECT_EQ(got->outputs[0].data<float>()[i], bias.data<float>()[i % c.output[3]]);
      }
    }
  }
}

// As in TensorFlow's kernels: the result is empty, until the count would be negative.
TEST(ConvShapes, WindowLargerThanImage) {
  const Tensor x = RandomTensor(DType::kFloat, {1, 2, 2, 4}, 1);
  const Tensor filter = RandomTensor(DType::kFloat, {3, 3, 4, 1}, 2);
  AttrMap attrs{{"T", DType::kFloat}, {"padding", "VALID"}, {"strides", Ints{1, 2, 2, 1}}};
  AttrMap pool = attrs;
  pool["ksize"] = Ints{1, 3, 3, 1};
  for (const char* prefix : {"", "_MklNative"}) {
    const auto run = [&](const char* op, const AttrMap& with, const std::vector<Tensor>& inputs,
                         std::vector<int> constants) {
      return RunNode(MakeNode(std::string(prefix) + op, with), inputs, {.constants = constants});
    };
    for (const char* op : {"Conv2D", "DepthwiseConv2dNative", "MaxPool", "AvgPool"}) {
      SCOPED_TRACE(std::string(prefix) + op);
      const bool pools = std::string(op).ends_with("Pool");
      auto got = pools ? run(op, pool, {x}, {}) : run(op, attrs, {x, filter}, {1});
      ASSERT_TRUE(got.ok()) << got.status();
      const int64_t channels = std::string(op) == "Conv2D" ? 1 : 4;
      EXPECT_EQ(got->outputs[0].shape(), Shape({1, 0, 0, channels}));
    }
    const Tensor nothing = RandomTensor(DType::kFloat, {1, 0, 0, 4}, 3);
    const Tensor zero_image = Tensor::From<float>({1, 2, 2, 4}, std::vector<float>(16));
    const Tensor sizes = Tensor::From<int32_t>({4}, {1, 2, 2, 4});
    auto zeros = run("DepthwiseConv2dNativeBackpropInput", attrs, {sizes, filter, nothing}, {0});
    ASSERT_TRUE(zeros.ok()) << zeros.status();
    EXPECT_TRUE(Identical(zeros->outputs[0], zero_image));
    zeros = run("MaxPoolGrad", pool, {x, nothing, nothing}, {});
    ASSERT_TRUE(zeros.ok()) << zeros.status();
    EXPECT_TRUE(Identical(zeros->outputs[0], zero_image));
    zeros = run("AvgPoolGrad", pool, {sizes, nothing}, {0});
    ASSERT_TRUE(zeros.ok()) << zeros.status();
    EXPECT_TRUE(Identical(zeros->outputs[0], zero_image));
    EXPECT_FALSE(run("Conv2D", attrs,
                     {RandomTensor(DType::kFloat, {1, 1, 1, 4}, 1),
                      RandomTensor(DType::kFloat, {5, 5, 4, 1}, 2)},
                     {1})
                     .ok());
  }
}

TEST(ConvDTypes, ReferenceTakesAll) {
  const AttrMap base{{"padding", "SAME"}, {"strides", Ints{1, 2, 2, 1}}};
  const Tensor x = RandomTensor(DType::kDouble, Shape({1, 5, 5, 3}), 1);
  for (DType dtype : {DType::kHalf, DType::kBfloat16, DType::kDouble, DType::kInt32}) {
    AttrMap attrs = base;
    attrs["T"] = dtype;
    absl::StatusOr<RunResult> got =
        RunNode(MakeNode("_MklNativeConv2D", attrs),
                {RandomTensor(dtype, {1, 5, 5, 3}, 1), RandomTensor(dtype, {3, 3, 3, 4}, 2)}, {});
    ASSERT_TRUE(got.ok()) << Name(dtype) << got.status();
    EXPECT_EQ(got->outputs[0].shape(), Shape({1, 3, 3, 4}));
  }
}

TEST(ConvDTypes, Bfloat16MatchesReference) {
  AttrMap attrs{{"T", DType::kBfloat16},
                {"padding", "SAME"},
                {"strides", Ints{1, 1, 1, 1}},
                {"num_args", 1},
                {"fused_ops", Names{"BiasAdd", "Relu"}}};
  ExpectNativeMatches(
      "_FusedConv2D", attrs,
      {RandomTensor(DType::kBfloat16, {1, 9, 9, 24}, 1),
       RandomTensor(DType::kBfloat16, {3, 3, 24, 40}, 2), RandomTensor(DType::kBfloat16, {40}, 3)},
      {.constants = {1}}, 9 * 24, /*must_accelerate=*/false);
}

// What oneDNN's Relu, Relu6 and Exp turn into numbers, and what they do not: NaN in the image, the
// residual or the filter; infinities.
// (Sums that overflow are not compared: the reference kernel sums in double.)
TEST(ConvNan, PassesThroughFusedChains) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const int64_t channels = 96;
  struct Case {
    std::vector<float> image;  // the first channels of one pixel
    float filter = 0.5, addend = 0.5;
  };
  const Case cases[] = {{{nan}},    {{infinity}},     {{-infinity}},   {{infinity, -infinity}},
                        {{1}, nan}, {{1}, -infinity}, {{1}, 0.5, nan}, {{1}, 0.5, -infinity}};
  const std::vector<Names> chains = {{"Relu"},
                                     {"BiasAdd", "Relu6"},
                                     {"BiasAdd", "Add", "Relu"},
                                     {"BiasAdd", "Relu", "Add"},
                                     {"BiasAdd", "Relu", "Add", "Relu"},
                                     {"BiasAdd", "Exp"},
                                     {"BiasAdd", "Mul", "Relu6"}};
  for (const char* format : {"NHWC", "NCHW"}) {
    for (const int64_t taps : {1, 3}) {
      for (const Names& chain : chains) {
        const bool binary =
            absl::c_linear_search(chain, "Add") || absl::c_linear_search(chain, "Mul");
        const bool bias = chain[0] == "BiasAdd";
        const AttrMap attrs{{"T", DType::kFloat},
                            {"padding", "VALID"},
                            {"data_format", format},
                            {"strides", Ints{1, 1, 1, 1}},
                            {"num_args", (bias ? 1 : 0) + (binary ? 1 : 0)},
                            {"fused_ops", chain}};
        const bool last = std::string(format) == "NHWC";
        for (const Case& c : cases) {
          const Shape shape = last ? Shape({1, 12, 12, channels}) : Shape({1, channels, 12, 12});
          Tensor x = RandomTensor(DType::kFloat, shape, 1);
          for (size_t i = 0; i < c.image.size(); ++i) {
            x.data<float>()[last ? 14 * static_cast<size_t>(channels) + i : i * 144 + 14] =
                c.image[i];
          }
          Tensor w = RandomTensor(DType::kFloat, {taps, taps, channels, channels}, 2, -0.1f, 0.1f);
          w.data<float>()[3] = c.filter;
          w.data<float>()[channels + 3] = c.filter;
          const int64_t size = 13 - taps;
          Tensor r = RandomTensor(
              DType::kFloat,
              last ? Shape({1, size, size, channels}) : Shape({1, channels, size, size}), 3);
          r.data<float>()[40] = c.addend;
          std::vector<Tensor> inputs = {x, w};
          if (bias) inputs.push_back(RandomTensor(DType::kFloat, {channels}, 4));
          if (binary) inputs.push_back(r);
          for (const std::vector<int>& constants : {std::vector<int>{}, std::vector<int>{1}}) {
            SCOPED_TRACE(absl::StrCat(format, " ", taps, " ", absl::StrJoin(chain, "+"), " ",
                                      c.image[0], " ", c.filter, " ", c.addend, " constant ",
                                      constants.size()));
            const absl::StatusOr<RunResult> want =
                RunNode(MakeNode("_FusedConv2D", attrs), inputs, {});
            ASSERT_TRUE(want.ok()) << want.status();
            for (NodeRunOptions options :
                 {NodeRunOptions{.winograd = false}, NodeRunOptions{.strict_nan = true}}) {
              options.constants = constants;
              const absl::StatusOr<RunResult> got =
                  RunNode(MakeNode("_MklNativeFusedConv2D", attrs), inputs, options);
              ASSERT_TRUE(got.ok()) << got.status();
              EXPECT_TRUE(got->accelerated);
              EXPECT_LT(RelativeError(got->outputs[0], want->outputs[0]), 1e-5)
                  << got->implementation;
            }
          }
        }
      }
    }
  }
}

TEST(ConvNan, InfinityReachesNoFartherThanTheWindowWhenAskedFor) {
  const AttrMap attrs{{"T", DType::kFloat}, {"padding", "SAME"}, {"strides", Ints{1, 1, 1, 1}}};
  Tensor x = RandomTensor(DType::kFloat, {1, 28, 28, 64}, 1);
  x.data<float>()[(14 * 28 + 14) * 64] = std::numeric_limits<float>::infinity();
  const Tensor w = RandomTensor(DType::kFloat, {3, 3, 64, 64}, 2);
  absl::StatusOr<RunResult> want = RunNode(MakeNode("Conv2D", attrs), {x, w}, {});
  ASSERT_TRUE(want.ok()) << want.status();
  for (NodeRunOptions options :
       {NodeRunOptions{.strict_nan = true}, NodeRunOptions{.winograd = false}}) {
    options.constants = {1};
    absl::StatusOr<RunResult> got = RunNode(MakeNode("_MklNativeConv2D", attrs), {x, w}, options);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->accelerated);
    EXPECT_LT(RelativeError(got->outputs[0], want->outputs[0]), 1e-5);
  }
}

TEST(ConvErrors, TellWhatIsWrong) {
  const AttrMap attrs{{"T", DType::kFloat}, {"padding", "VALID"}, {"strides", Ints{1, 1, 1, 1}}};
  const auto run = [&](const Shape& x, const Shape& w) {
    return RunNode(MakeNode("Conv2D", attrs),
                   {RandomTensor(DType::kFloat, x, 1), RandomTensor(DType::kFloat, w, 2)}, {})
        .status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(run({1, 4, 4, 3}, {3, 3, 2, 4})));
  EXPECT_TRUE(absl::IsInvalidArgument(run({1, 4, 4}, {3, 3, 3, 4})));
  EXPECT_TRUE(absl::IsInvalidArgument(run({1, 2, 2, 3}, {5, 5, 3, 4})));
}

// Compares pad and convolution in one op with pad and convolution in two.
TEST(PadConv, MatchesPadAndConv) {
  const Tensor x = RandomTensor(DType::kFloat, {2, 6, 5, 8}, 1);
  const Tensor bias = RandomTensor(DType::kFloat, {16}, 3);
  struct Case {
    const char* name;
    std::vector<int32_t> pads;
    const char* padding = "VALID";
  };
  for (const Case& c :
       {Case{"spatial", {0, 0, 1, 2, 3, 0, 0, 0}}, Case{"none", {0, 0, 0, 0, 0, 0, 0, 0}},
        Case{"batch", {1, 0, 0, 1, 0, 0, 0, 0}}, Case{"channels", {0, 0, 1, 1, 1, 1, 1, 3}},
        Case{"same", {0, 0, 1, 0, 2, 0, 0, 0}, "SAME"}}) {
    SCOPED_TRACE(c.name);
    const Tensor pads = Tensor::From(Shape({4, 2}), c.pads);
    const int64_t channels = 8 + c.pads[6] + c.pads[7];
    const Tensor w = RandomTensor(DType::kFloat, {3, 3, channels, 16}, 2);
    AttrMap attrs{{"T", DType::kFloat},
                  {"padding", c.padding},
                  {"strides", Ints{1, 2, 2, 1}},
                  {"num_args", 1},
                  {"fused_ops", Names{"BiasAdd", "Relu"}}};
    auto padded = RunNode(MakeNode("Pad", {{"T", DType::kFloat}, {"Tpaddings", DType::kInt32}}),
                          {x, pads}, {.constants = {1}});
    ASSERT_TRUE(padded.ok()) << padded.status();
    auto want = RunNode(MakeNode("_FusedConv2D", attrs), {padded->outputs[0], w, bias}, {});
    ASSERT_TRUE(want.ok()) << want.status();
    for (const char* op : {"_PadWithFusedConv2D", "_MklNativePadWithFusedConv2D"}) {
      auto got =
          RunNode(MakeNode(op, attrs), {x, w, bias, pads}, {.threads = 2, .constants = {1, 3}});
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_LE(RelativeError(got->outputs[0], want->outputs[0]), 1.2e-7 * 4 * 9 * 12) << op;
    }
  }
  const AttrMap attrs{
      {"T", DType::kFloat}, {"padding", "VALID"}, {"strides", Ints{1, 1, 1, 1}}, {"num_args", 0}};
  const Tensor w = RandomTensor(DType::kFloat, {3, 3, 8, 16}, 2);
  for (const Tensor& bad :
       {Tensor::From(Shape({4, 2}), std::vector<int32_t>{0, 0, -1, 0, 0, 0, 0, 0}),
        Tensor::From(Shape({2, 2}), std::vector<int32_t>{1, 1, 1, 1})}) {
    auto got = RunNode(MakeNode("_PadWithFusedConv2D", attrs), {x, w, bad}, {.constants = {2}});
    EXPECT_TRUE(absl::IsInvalidArgument(got.status())) << got.status();
  }
}

// Attributes that only TensorFlow's own fused ops have.
TEST(FusedByTensorFlow, PaddingListAndFilterFormat) {
  const Tensor x = RandomTensor(DType::kFloat, {1, 4, 5, 6, 3}, 1);
  const Tensor w = RandomTensor(DType::kFloat, {2, 3, 3, 3, 8}, 2);
  const Tensor bias = RandomTensor(DType::kFloat, {8}, 3);
  const Ints pads{0, 0, 1, 0, 2, 1, 0, 1, 0, 0};
  AttrMap attrs{{"T", DType::kFloat},
                {"padding", "EXPLICIT"},
                {"explicit_paddings", pads},
                {"strides", Ints{1, 1, 2, 1, 1}},
                {"num_args", 1},
                {"fused_ops", Names{"BiasAdd"}}};
  const auto want = RunNode(MakeNode("_FusedConv3D", attrs), {x, w, bias}, {});
  ASSERT_TRUE(want.ok()) << want.status();
  attrs["padding"] = "VALID";
  attrs["padding_list"] = pads;
  attrs.erase("explicit_paddings");
  for (const char* op : {"_FusedConv3D", "_MklNativeFusedConv3D"}) {
    const auto got = RunNode(MakeNode(op, attrs), {x, w, bias}, {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_LE(RelativeError(got->outputs[0], want->outputs[0]), 1.2e-7 * (4 + 54 / 2));
  }

  const AttrMap oihw{{"T", DType::kFloat},
                     {"padding", "SAME"},
                     {"strides", Ints{1, 1, 1, 1}},
                     {"num_args", 1},
                     {"fused_ops", Names{"BiasAdd"}},
                     {"filter_format", "OIHW"}};
  const auto refused = RunNode(MakeNode("_FusedConv2D", oihw),
                               {RandomTensor(DType::kFloat, {1, 5, 5, 3}, 1),
                                RandomTensor(DType::kFloat, {3, 3, 3, 8}, 2), bias},
                               {});
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
}

}  // namespace
}  // namespace tenon
