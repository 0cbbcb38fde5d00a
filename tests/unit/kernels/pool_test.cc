#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;

struct PoolCase {
  Shape input;
  int64_t window, stride;
  const char* padding;
  bool nchw = false;
};

TEST(Pool, MatchesReference) {
  for (const PoolCase& c :
       {PoolCase{{1, 112, 112, 64}, 3, 2, "VALID"}, PoolCase{{2, 7, 8, 3}, 3, 2, "SAME"},
        PoolCase{{1, 5, 6, 17}, 3, 1, "SAME"}, PoolCase{{1, 35, 35, 48}, 3, 1, "SAME"},
        PoolCase{{2, 8, 8, 1}, 2, 2, "VALID"}, PoolCase{{1, 9, 9, 2}, 2, 3, "VALID"},
        PoolCase{{1, 7, 7, 160}, 7, 1, "VALID"}, PoolCase{{2, 16, 9, 9}, 3, 2, "SAME", true}}) {
    AttrMap attrs{{"T", DType::kFloat}, {"padding", c.padding}};
    attrs["ksize"] = c.nchw ? Ints{1, 1, c.window, c.window} : Ints{1, c.window, c.window, 1};
    attrs["strides"] = c.nchw ? Ints{1, 1, c.stride, c.stride} : Ints{1, c.stride, c.stride, 1};
    attrs["data_format"] = c.nchw ? "NCHW" : "NHWC";
    SCOPED_TRACE(c.input.ToString());
    for (int threads : {1, 2}) {
      const std::vector<Tensor> input = {RandomTensor(DType::kFloat, c.input, 1, -9, -1)};
      ExpectNativeMatches("MaxPool", attrs, input, {.threads = threads}, 1);
      ExpectNativeMatches("AvgPool", attrs, input, {.threads = threads}, c.window * c.window);
    }
  }
}

TEST(Pool, ThreeDimensions) {
  const AttrMap attrs{{"T", DType::kFloat},
                      {"padding", "SAME"},
                      {"ksize", Ints{1, 2, 3, 3, 1}},
                      {"strides", Ints{1, 1, 2, 2, 1}}};
  const std::vector<Tensor> input = {RandomTensor(DType::kFloat, {2, 4, 7, 6, 18}, 1)};
  ExpectNativeMatches("MaxPool3D", attrs, input, {}, 1);
  ExpectNativeMatches("AvgPool3D", attrs, input, {}, 18);
}

TEST(Pool, ReferenceValues) {
  AttrMap attrs{{"T", DType::kFloat},
                {"padding", "SAME"},
                {"ksize", Ints{1, 2, 2, 1}},
                {"strides", Ints{1, 2, 2, 1}}};
  const Tensor x = Tensor::From<float>({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const char* prefix : {"", "_MklNative"}) {
    absl::StatusOr<RunResult> average =
        RunNode(MakeNode(std::string(prefix) + "AvgPool", attrs), {x}, {});
    ASSERT_TRUE(average.ok()) << average.status();
    EXPECT_TRUE(
        Identical(average->outputs[0], Tensor::From<float>({1, 2, 2, 1}, {3, 4.5, 7.5, 9})));
    absl::StatusOr<RunResult> max =
        RunNode(MakeNode(std::string(prefix) + "MaxPool", attrs), {x}, {});
    ASSERT_TRUE(max.ok()) << max.status();
    EXPECT_TRUE(Identical(max->outputs[0], Tensor::From<float>({1, 2, 2, 1}, {5, 6, 8, 9})));
  }
}

TEST(Pool, ExplicitPaddingNeverWins) {
  const AttrMap attrs{{"T", DType::kFloat},
                      {"padding", "EXPLICIT"},
                      {"explicit_paddings", Ints{0, 0, 1, 1, 1, 1, 0, 0}},
                      {"ksize", Ints{1, 3, 3, 1}},
                      {"strides", Ints{1, 2, 2, 1}}};
  ExpectNativeMatches("MaxPool", attrs, {RandomTensor(DType::kFloat, {1, 6, 6, 16}, 1, -9, -1)}, {},
                      1);
}

TEST(BatchNorm, InferenceAndTraining) {
  const Tensor x = RandomTensor(DType::kFloat, {2, 3, 4, 5}, 1);
  const Tensor scale = RandomTensor(DType::kFloat, {5}, 2, 0.5, 1.5);
  const Tensor offset = RandomTensor(DType::kFloat, {5}, 3);
  const Tensor mean = RandomTensor(DType::kFloat, {5}, 4);
  const Tensor variance = RandomTensor(DType::kFloat, {5}, 5, 0.5, 1.5);
  AttrMap attrs{{"T", DType::kFloat}, {"U", DType::kFloat}, {"epsilon", 0.001f}};
  attrs["is_training"] = false;
  for (const char* op : {"FusedBatchNormV3", "_MklNativeFusedBatchNormV3"}) {
    absl::StatusOr<RunResult> got =
        RunNode(MakeNode(op, attrs), {x, scale, offset, mean, variance}, {.threads = 2});
    ASSERT_TRUE(got.ok()) << got.status();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const int64_t c = i % 5;
      const double want = (x.data<float>()[i] - mean.data<float>()[c]) /
                              std::sqrt(variance.data<float>()[c] + 0.001) *
                              scale.data<float>()[c] +
                          offset.data<float>()[c];
      EXPECT_NEAR(got->outputs[0].data<float>()[i], want, 1e-6);
    }
  }
  attrs["is_training"] = true;
  attrs["exponential_avg_factor"] = 1.0f;
  absl::StatusOr<RunResult> got =
      RunNode(MakeNode("FusedBatchNormV3", attrs), {x, scale, offset, mean, variance}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < x.num_elements(); i += 5) sum += x.data<float>()[i];
  for (int64_t i = 0; i < x.num_elements(); i += 5) {
    squares += std::pow(x.data<float>()[i] - sum / 24, 2);
  }
  EXPECT_NEAR(got->outputs[1].data<float>()[0], sum / 24, 1e-6);
  EXPECT_NEAR(got->outputs[2].data<float>()[0], squares / 23, 1e-6);
}

}  // namespace
}  // namespace tenon
