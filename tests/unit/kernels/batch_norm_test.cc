// Batch normalization: accelerated against reference kernels at sizes that goldens do not have,
// gradients against numeric differentiation, and the forms with a side input and a Relu.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/numeric_gradient.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

AttrMap Attrs(bool training, const char* activation = nullptr, int64_t sides = 0) {
  AttrMap attrs{
      {"T", DType::kFloat}, {"U", DType::kFloat}, {"is_training", training}, {"epsilon", 0.01f}};
  if (activation != nullptr) {
    attrs["activation_mode"] = activation;
    attrs["num_side_inputs"] = sides;
  }
  return attrs;
}

struct Inputs {
  explicit Inputs(const Shape& shape, int64_t channels)
      : x(RandomTensor(DType::kFloat, shape, 1)),
        dy(RandomTensor(DType::kFloat, shape, 2)),
        side(RandomTensor(DType::kFloat, shape, 3)),
        scale(RandomTensor(DType::kFloat, Shape({channels}), 4, 0.5, 1.5)),
        offset(RandomTensor(DType::kFloat, Shape({channels}), 5)),
        mean(RandomTensor(DType::kFloat, Shape({channels}), 6, -0.2f, 0.2f)),
        variance(RandomTensor(DType::kFloat, Shape({channels}), 7, 0.5, 1.5)),
        reserve(RandomTensor(DType::kFloat, Shape(), 8)) {}
  Tensor x, dy, side, scale, offset, mean, variance, reserve;
};

TEST(BatchNorm, AcceleratedMatchesStandard) {
  struct Case {
    Shape shape;
    const char* format;
  };
  for (const Case& c :
       {Case{{2, 31, 29, 64}, "NHWC"}, Case{{8, 14, 14, 200}, "NHWC"}, Case{{3, 7, 7, 515}, "NHWC"},
        Case{{2, 64, 64, 3}, "NHWC"}, Case{{1, 100, 101, 1}, "NHWC"}, Case{{3, 1, 1, 40}, "NHWC"},
        Case{{2, 5, 150, 140}, "NCHW"}, Case{{2, 3, 9, 7}, "NCHW"}}) {
    SCOPED_TRACE(c.shape.ToString());
    const Inputs in(c.shape, c.shape[std::strcmp(c.format, "NCHW") == 0 ? 1 : 3]);
    for (const bool training : {true, false}) {
      for (const int threads : {1, 2}) {
        AttrMap attrs = Attrs(training);
        attrs["data_format"] = c.format;
        const NodeRunOptions options{.threads = threads};
        // The reference kernel sums in double, the accelerated kernel sums blocks of at most 16384
        // in float.
        ExpectNativeMatches("FusedBatchNormV3", attrs,
                            {in.x, in.scale, in.offset, in.mean, in.variance}, options, 64);
        ExpectNativeMatches("FusedBatchNormGradV3", attrs,
                            {in.dy, in.x, in.scale, in.mean, in.variance, in.reserve}, options,
                            in.x.num_elements());
        attrs["activation_mode"] = "Relu";
        attrs["num_side_inputs"] = int64_t{1};
        ExpectNativeMatches("_FusedBatchNormEx", attrs,
                            {in.x, in.scale, in.offset, in.mean, in.variance, in.side}, options,
                            64);
        ExpectNativeMatches(
            "_FusedBatchNormGradEx", attrs,
            {in.dy, in.x, in.scale, in.mean, in.variance, in.reserve, in.offset, in.side}, options,
            in.x.num_elements());
      }
    }
  }
}

TEST(BatchNorm, ThreadsDoNotChangeBits) {
  const Inputs in({8, 28, 28, 130}, 130);
  const std::vector<Tensor> inputs = {in.x, in.scale, in.offset, in.mean, in.variance};
  const Node node = MakeNode("_MklNativeFusedBatchNormV3", Attrs(true));
  const auto one = RunNode(node, inputs, {.threads = 1}),
             two = RunNode(node, inputs, {.threads = 2});
  ASSERT_TRUE(one.ok() && two.ok());
  for (size_t i = 0; i < one->outputs.size(); ++i) {
    EXPECT_TRUE(Identical(one->outputs[i], two->outputs[i])) << i;
  }
}

// Compares the gradients with respect to x, scale, offset and the side input with differences of
// the forward op.
void ExpectGradients(bool training, const char* activation, int64_t sides) {
  SCOPED_TRACE(absl::StrCat(training ? "training " : "inference ", activation, " ", sides));
  const Inputs in({2, 2, 3, 3}, 3);
  const AttrMap attrs = Attrs(training, activation, sides);
  auto forward = [&](const Inputs& v) {
    std::vector<Tensor> inputs = {v.x, v.scale, v.offset, v.mean, v.variance};
    if (sides > 0) inputs.push_back(v.side);
    return RunNode(MakeNode("_FusedBatchNormEx", attrs), inputs, {});
  };
  const auto out = forward(in);
  ASSERT_TRUE(out.ok()) << out.status();
  const Tensor mean = training ? out->outputs[3] : in.mean;
  const Tensor variance = training ? out->outputs[4] : in.variance;
  for (const char* op : {"_FusedBatchNormGradEx", "_MklNativeFusedBatchNormGradEx"}) {
    SCOPED_TRACE(op);
    const auto gradient = RunNode(
        MakeNode(op, attrs),
        {in.dy, in.x, in.scale, mean, variance, in.reserve, in.offset, out->outputs[0]}, {});
    ASSERT_TRUE(gradient.ok()) << gradient.status();
    const auto check = [&](Tensor Inputs::*input, size_t output) {
      testing::ExpectNumericGradient(
          [&](const Tensor& value) -> absl::StatusOr<Tensor> {
            Inputs moved = in;
            moved.*input = value;
            auto y = forward(moved);
            if (!y.ok()) return y.status();
            return y->outputs[0];
          },
          in.*input, in.dy, gradient->outputs[output], {.third_derivative = 30});
    };
    check(&Inputs::x, 0);
    check(&Inputs::scale, 1);
    check(&Inputs::offset, 2);
    if (sides > 0) check(&Inputs::side, 5);
  }
}

TEST(BatchNorm, GradientsAreDerivatives) {
  for (const bool training : {true, false}) {
    for (const char* activation : {"Identity", "Relu"}) {
      for (const int64_t sides : {0, 1}) ExpectGradients(training, activation, sides);
    }
  }
}

TEST(BatchNorm, BadAttributes) {
  const Inputs in({2, 2, 3, 3}, 3);
  const std::vector<Tensor> inputs = {in.x, in.scale, in.offset, in.mean, in.variance};
  AttrMap attrs = Attrs(true, "Tanh");
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunNode(MakeNode("_FusedBatchNormEx", attrs), inputs, {}).status()));
  attrs = Attrs(true, "Relu", -1);
  EXPECT_FALSE(RunNode(MakeNode("_FusedBatchNormEx", attrs), inputs, {}).ok());
  attrs = Attrs(true);
  attrs["data_format"] = "CHWN";
  EXPECT_TRUE(
      absl::IsInvalidArgument(RunNode(MakeNode("FusedBatchNormV3", attrs), inputs, {}).status()));
}

}  // namespace
}  // namespace tenon
