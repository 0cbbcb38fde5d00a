// Convolutions of bfloat16 that end with swish, by own kernels where the CPU has AVX-512 BF16 (and
// by oneDNN elsewhere): against the float reference kernel on the same numbers, with odd sizes,
// windows, several threads, infinities and NaN.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/contraction/narrow_panels.h"
#include "kernels/contraction/narrow_product_simd.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

struct Case {
  const char* name;
  std::vector<int64_t> input, filter;
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1};
  bool depthwise = false;
  bool own = true;  // where the CPU has AVX-512 BF16
  bool on_tiles = own;
};

const Case kCases[] = {
    {"pointwise", {2, 5, 7, 18}, {1, 1, 18, 70}},
    {"one_pixel", {1, 1, 1, 96}, {1, 1, 96, 4}},
    {"many_rows", {3, 21, 20, 24}, {1, 1, 24, 33}},
    {"many_channels", {1, 3, 3, 1030}, {1, 1, 1030, 65}},
    {"one_output", {1, 4, 5, 2}, {1, 1, 2, 1}},
    {"odd_channels", {1, 4, 5, 7}, {1, 1, 7, 9}, {1, 1}, {1, 1}, false, false, true},
    {"windows", {1, 6, 5, 4}, {3, 3, 4, 9}, {1, 1}, {1, 1}, false, false},
    {"depthwise", {2, 9, 11, 37}, {3, 3, 37, 1}, {1, 1}, {1, 1}, true},
    {"depthwise_strided", {1, 13, 70, 21}, {5, 5, 21, 1}, {2, 2}, {1, 1}, true},
    {"depthwise_dilated", {1, 15, 12, 8}, {3, 3, 8, 1}, {1, 1}, {4, 2}, true},
    {"depthwise_of_even_height", {1, 8, 7, 16}, {4, 2, 16, 1}, {1, 1}, {1, 1}, true},
    {"depthwise_larger_than_the_image", {1, 2, 2, 3}, {7, 7, 3, 1}, {1, 1}, {1, 1}, true},
    {"depthwise_of_many_channels", {1, 4, 4, 200}, {3, 3, 200, 1}, {1, 1}, {1, 1}, true},
};

class Bfloat16SwishTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { LimitVectorCode(); }

  Node NodeFor(const char* prefix, DType dtype, bool bias) const {
    const Case& c = GetParam();
    AttrMap attrs;
    attrs["T"] = dtype;
    attrs["num_args"] = int64_t{bias ? 1 : 0};
    if (!c.depthwise) attrs["TArgs"] = std::vector<DType>(bias ? 1 : 0, dtype);
    attrs["strides"] = std::vector<int64_t>{1, c.strides[0], c.strides[1], 1};
    attrs["dilations"] = std::vector<int64_t>{1, c.dilations[0], c.dilations[1], 1};
    attrs["padding"] = std::string("SAME");
    attrs["fused_ops"] =
        bias ? std::vector<std::string>{"BiasAdd", "_Swish"} : std::vector<std::string>{"_Swish"};
    return MakeNode(
        prefix + std::string(c.depthwise ? "FusedDepthwiseConv2dNative" : "FusedConv2D"), attrs);
  }
  std::vector<Tensor> Inputs(bool bias) const {
    const Case& c = GetParam();
    const int64_t channels = c.depthwise ? c.filter[2] : c.filter[3];
    std::vector<Tensor> inputs = {RandomTensor(DType::kBfloat16, Shape(c.input), 1, -2, 2),
                                  RandomTensor(DType::kBfloat16, Shape(c.filter), 2)};
    if (bias) inputs.push_back(RandomTensor(DType::kBfloat16, Shape({channels}), 3));
    return inputs;
  }
  Tensor Reference(const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> wide;
    for (const Tensor& t : inputs) wide.push_back(ToFloat(t));
    const auto want = RunNode(NodeFor("_", DType::kFloat, inputs.size() > 2), wide, {});
    EXPECT_TRUE(want.ok()) << want.status();
    EXPECT_EQ(want->implementation, "reference");
    return want->outputs[0];
  }
};

bool HasOwnKernels() {
  return HasBfloat16Instructions() && FindNarrowLoops(NarrowForm::kBfloat16) != nullptr;
}
bool IsOwn(const Case& c) { return HasOwnKernels() && (AllowsTiles() ? c.on_tiles : c.own); }

TEST_P(Bfloat16SwishTest, AgreesWithFloats) {
  const Case& c = GetParam();
  for (const bool bias : {true, false}) {
    const std::vector<Tensor> inputs = Inputs(bias);
    const Tensor want = Reference(inputs);
    for (const int threads : {1, 3}) {
      const auto got = RunNode(NodeFor("_MklNative", DType::kBfloat16, bias), inputs,
                               {.threads = threads, .constants = {1}});
      ASSERT_TRUE(got.ok()) << got.status();
      if (HasOwnKernels()) {
        const char* const kernel = c.depthwise ? "bfloat16 lines" : "bfloat16 tiles";
        EXPECT_EQ(got->implementation == kernel, IsOwn(c)) << got->implementation;
      }
      ASSERT_EQ(got->outputs[0].shape(), want.shape());
      // Half a unit in the last place of bfloat16 is 2^-9; sums and swish round, too. Kernels that
      // are not ours may round after each op of the chain.
      const float part = IsOwn(c) ? 1 : 8;
      for (int64_t i = 0; i < want.num_elements(); ++i) {
        const float y = want.data<float>()[i];
        ASSERT_NEAR(static_cast<float>(got->outputs[0].data<bfloat16>()[i]), y,
                    part * (std::fabs(y) * 0x1p-8f + 0x1p-9f))
            << "element " << i;
      }
    }
  }
}

// An infinity gives infinity or, at minus infinity, NaN, as x * sigmoid(x) does.
TEST_P(Bfloat16SwishTest, KeepsInfinitiesAndNan) {
  if (!IsOwn(GetParam())) GTEST_SKIP() << "oneDNN's kernels";
  std::vector<Tensor> inputs = Inputs(true);
  for (const float special : {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    inputs[0].data<bfloat16>()[0] = static_cast<bfloat16>(special);
    const Tensor want = Reference(inputs);
    const auto got =
        RunNode(NodeFor("_MklNative", DType::kBfloat16, true), inputs, {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    for (int64_t i = 0; i < want.num_elements(); ++i) {
      const float y = want.data<float>()[i];
      const float x = static_cast<float>(got->outputs[0].data<bfloat16>()[i]);
      if (std::isfinite(y)) {
        ASSERT_NEAR(x, y, std::fabs(y) * 0x1p-8f + 0x1p-9f);
      } else {
        ASSERT_EQ(std::isnan(x), std::isnan(y)) << i;
        if (!std::isnan(y)) {
          ASSERT_EQ(x, y) << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Bfloat16SwishTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon
