// What convolutions share beside their kernels: shapes, dtypes, NaN, errors, other ops that become
// one.
#include <gtest/gtest.h>

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;

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

TEST(ConvDTypes, DoublesMatchReference) {
  for (const char* format : {"NHWC", "NCHW"}) {
    const bool last = format[3] == 'C';
    for (const int threads : {1, 2}) {
      const AttrMap attrs{{"T", DType::kDouble},
                          {"padding", "SAME"},
                          {"data_format", format},
                          {"strides", last ? Ints{1, 2, 1, 1} : Ints{1, 1, 2, 1}}};
      ExpectNativeMatches(
          "Conv2D", attrs,
          {RandomTensor(DType::kDouble, last ? Shape{2, 19, 17, 35} : Shape{2, 35, 19, 17}, 1),
           RandomTensor(DType::kDouble, {3, 5, 35, 13}, 2)},
          {.threads = threads}, 15 * 35);
    }
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
                                     {"LeakyRelu"},  // without a slope
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
                            {"leakyrelu_alpha", 0.0f},
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
