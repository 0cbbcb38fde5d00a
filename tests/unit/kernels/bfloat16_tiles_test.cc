// Convolutions of bfloat16 on matrix tiles (AMX), against the float reference kernel on the same
// numbers: sizes that fill no tile, windows with strides, padding and dilations, images of one
// line, all chains, several threads, NaN and infinities.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

struct Case {
  const char* name;
  std::vector<int64_t> input, filter;
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1};
  const char* padding = "SAME";
};

const Case kCases[] = {
    {"whole_tiles", {1, 8, 8, 64}, {1, 1, 64, 64}},
    {"no_whole_tile", {1, 3, 5, 33}, {1, 1, 33, 17}},
    {"one_pixel", {1, 1, 1, 70}, {1, 1, 70, 130}},
    {"one_channel", {2, 4, 5, 1}, {1, 1, 1, 1}},
    {"many_rows", {2, 40, 41, 20}, {1, 1, 20, 48}},
    {"rows_of_many_channels", {1, 5, 7, 1000}, {1, 1, 1000, 40}},
    {"large_weights", {1, 6, 7, 520}, {1, 1, 520, 600}},
    {"strided", {2, 9, 12, 40}, {1, 1, 40, 36}, {2, 3}},
    {"strided_whole_tiles", {1, 16, 16, 32}, {1, 1, 32, 32}, {2, 2}},
    {"window", {1, 9, 11, 32}, {3, 3, 32, 32}},
    {"window_of_odd_sizes", {2, 7, 6, 35}, {3, 3, 35, 18}},
    {"window_without_padding", {1, 12, 9, 48}, {3, 3, 48, 64}, {1, 1}, {1, 1}, "VALID"},
    {"row_window", {1, 17, 17, 64}, {1, 7, 64, 40}},
    {"column_window", {1, 17, 17, 64}, {7, 1, 64, 40}},
    {"even_window", {1, 8, 9, 24}, {2, 4, 24, 20}},
    {"dilated_window", {1, 13, 14, 32}, {3, 3, 32, 33}, {1, 1}, {2, 3}},
    {"window_larger_than_the_image", {1, 2, 3, 32}, {5, 7, 32, 16}},
    {"large_window", {1, 30, 31, 64}, {5, 5, 64, 96}},
    {"window_of_many_images", {5, 4, 4, 64}, {3, 3, 64, 32}},
    {"strided_window", {1, 17, 19, 32}, {3, 3, 32, 40}, {2, 2}},
    {"strided_window_of_odd_sizes", {2, 16, 13, 35}, {3, 4, 35, 18}, {3, 2}},
    {"strided_window_without_padding", {1, 20, 21, 64}, {5, 3, 64, 48}, {2, 3}, {1, 1}, "VALID"},
    {"window_smaller_than_its_strides", {2, 12, 13, 32}, {1, 2, 32, 32}, {3, 4}, {1, 1}, "VALID"},
    {"strided_patches", {1, 16, 16, 64}, {2, 2, 64, 96}, {2, 2}, {1, 1}, "VALID"},
    {"strided_rows_only", {1, 21, 9, 32}, {5, 3, 32, 32}, {4, 1}},
    {"line", {1, 1, 700, 64}, {1, 3, 64, 48}},
    {"line_without_padding", {2, 1, 701, 64}, {1, 3, 64, 48}, {1, 1}, {1, 1}, "VALID"},
    {"strided_line", {2, 1, 700, 40}, {1, 3, 40, 72}, {1, 2}},
    {"strided_line_without_padding", {2, 1, 701, 512}, {1, 3, 512, 64}, {1, 2}, {1, 1}, "VALID"},
    {"strided_patches_of_a_line", {1, 1, 600, 96}, {1, 2, 96, 64}, {1, 2}, {1, 1}, "VALID"},
    {"dilated_line", {1, 1, 400, 32}, {1, 3, 32, 33}, {1, 1}, {1, 7}},
};

const std::vector<std::vector<std::string>> kChains = {{},
                                                       {"BiasAdd"},
                                                       {"BiasAdd", "Relu"},
                                                       {"BiasAdd", "Relu6"},
                                                       {"BiasAdd", "_Swish"},
                                                       {"BiasAdd", "_GeluExact"},
                                                       {"_GeluApproximate"},
                                                       {"Add", "Relu"},
                                                       {"BiasAdd", "Add"},
                                                       {"BiasAdd", "Add", "Relu"},
                                                       {"Add", "_Swish"}};

bool IsActivation(const std::string& op) { return op != "BiasAdd" && op != "Add"; }

AttrMap FusedAttrs(DType dtype, const std::vector<std::string>& chain) {
  const size_t args = chain.size() - (!chain.empty() && IsActivation(chain.back()) ? 1 : 0);
  AttrMap attrs;
  attrs["T"] = dtype;
  attrs["num_args"] = static_cast<int64_t>(args);
  attrs["TArgs"] = std::vector<DType>(args, dtype);
  attrs["fused_ops"] = chain;
  return attrs;
}

// What the chain reads.
void AddOperands(const std::vector<std::string>& chain, const Shape& out,
                 std::vector<Tensor>& inputs) {
  for (const std::string& op : chain) {
    if (op == "BiasAdd") {
      inputs.push_back(RandomTensor(DType::kBfloat16, Shape({out.dim(out.rank() - 1)}), 3));
    }
    if (op == "Add") inputs.push_back(RandomTensor(DType::kBfloat16, out, 4, -8, 8));
  }
}

Tensor Reference(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> wide;
  for (const Tensor& t : inputs) wide.push_back(ToFloat(t));
  const auto want = RunNode(node, wide, {});
  EXPECT_TRUE(want.ok()) << want.status();
  return want->outputs[0];
}

void ExpectNear(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const float y = want.data<float>()[i], x = static_cast<float>(got.data<bfloat16>()[i]);
    if (std::isfinite(y)) {
      // Half a unit in the last place of bfloat16 is 2^-9; sums, swish and GELU round, too.
      ASSERT_NEAR(x, y, std::fabs(y) * 0x1p-8f + 0x1p-10f) << "element " << i;
    } else if (std::isnan(y)) {
      ASSERT_TRUE(std::isnan(x)) << "element " << i << ": " << x;
    } else {
      ASSERT_EQ(x, y) << "element " << i;
    }
  }
}

// The node's result with one thread and several ones is near the reference's.
void ExpectAgreement(const Node& node, const Node& reference, const std::vector<Tensor>& inputs) {
  const Tensor want = Reference(reference, inputs);
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 5}) {
    const auto got = RunNode(node, inputs, {.threads = threads, .constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, "bfloat16 tiles");
    ExpectNear(got->outputs[0], want);
    if (testing::Test::HasFatalFailure()) return;
    results.push_back(got->outputs[0]);
  }
  EXPECT_TRUE(Identical(results[0], results[1]));
  EXPECT_TRUE(Identical(results[0], results[2]));
}

void ExpectSpecialValues(const Node& node, const Node& reference, std::vector<Tensor> inputs) {
  for (const float special : {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    inputs[0].data<bfloat16>()[inputs[0].num_elements() / 2] = static_cast<bfloat16>(special);
    const auto got = RunNode(node, inputs, {.threads = 2, .constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectNear(got->outputs[0], Reference(reference, inputs));
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::string Described(const std::vector<std::string>& chain) {
  return chain.empty() ? "no chain" : chain.front() + " ... " + chain.back();
}

// A case with all chains.
template <typename Param>
class ChainsTest : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    if (!AllowsTiles()) GTEST_SKIP() << "this CPU has no matrix tiles";
  }
  virtual Node NodeFor(const std::string& prefix, DType dtype,
                       const std::vector<std::string>& chain) const = 0;
  virtual std::vector<Tensor> Inputs(const std::vector<std::string>& chain) const = 0;

  // check(the node, the reference's, inputs), as ExpectAgreement.
  template <typename Check>
  void ForChains(Check check) const {
    for (const auto& chain : kChains) {
      SCOPED_TRACE(Described(chain));
      check(NodeFor("_MklNative", DType::kBfloat16, chain), NodeFor("_", DType::kFloat, chain),
            Inputs(chain));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

class Bfloat16TilesTest : public ChainsTest<Case> {
 protected:
  Node NodeFor(const std::string& prefix, DType dtype,
               const std::vector<std::string>& chain) const override {
    const Case& c = GetParam();
    AttrMap attrs = FusedAttrs(dtype, chain);
    attrs["strides"] = std::vector<int64_t>{1, c.strides[0], c.strides[1], 1};
    attrs["dilations"] = std::vector<int64_t>{1, c.dilations[0], c.dilations[1], 1};
    attrs["padding"] = std::string(c.padding);
    return MakeNode(prefix + "FusedConv2D", attrs);
  }
  std::vector<Tensor> Inputs(const std::vector<std::string>& chain) const override {
    const Case& c = GetParam();
    const float weight = 2 / std::sqrt(static_cast<float>(c.filter[0] * c.filter[1] * c.filter[2]));
    std::vector<Tensor> inputs = {
        RandomTensor(DType::kBfloat16, Shape(c.input), 1, -2, 2),
        RandomTensor(DType::kBfloat16, Shape(c.filter), 2, -weight, weight)};
    Shape out(c.input);
    for (int d : {1, 2}) {
      const size_t i = static_cast<size_t>(d - 1);
      const int64_t window = (c.filter[i] - 1) * c.dilations[i];
      const int64_t size = c.input[i + 1] - (std::string(c.padding) == "VALID" ? window : 0);
      out.set_dim(d, (size + c.strides[i] - 1) / c.strides[i]);
    }
    out.set_dim(3, c.filter[3]);
    AddOperands(chain, out, inputs);
    return inputs;
  }
};

TEST_P(Bfloat16TilesTest, AgreesWithFloats) { ForChains(ExpectAgreement); }

TEST_P(Bfloat16TilesTest, KeepsInfinitiesAndNan) { ForChains(ExpectSpecialValues); }

INSTANTIATE_TEST_SUITE_P(Cases, Bfloat16TilesTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

struct Product {
  int64_t rows, terms, columns;
  bool transposed = false;
};

const Product kProducts[] = {
    {1, 64, 64},         {1, 1, 2},       {1, 1000, 17},     {1, 100, 300, true}, {2, 33, 40},
    {16, 512, 32},       {17, 31, 130},   {32, 64, 64},      {33, 768, 100},      {49, 3072, 64},
    {64, 96, 200, true}, {197, 384, 384}, {300, 5, 7, true}, {130, 1000, 2},      {1, 700, 1000},
};

class Bfloat16ProductTest : public ChainsTest<Product> {
 protected:
  Node NodeFor(const std::string& prefix, DType dtype,
               const std::vector<std::string>& chain) const override {
    AttrMap attrs = FusedAttrs(dtype, chain);
    attrs["transpose_b"] = GetParam().transposed;
    return MakeNode(prefix + "FusedMatMul", attrs);
  }
  std::vector<Tensor> Inputs(const std::vector<std::string>& chain) const override {
    const Product& c = GetParam();
    const float weight = 2 / std::sqrt(static_cast<float>(c.terms));
    const Shape weights = c.transposed ? Shape({c.columns, c.terms}) : Shape({c.terms, c.columns});
    std::vector<Tensor> inputs = {
        RandomTensor(DType::kBfloat16, Shape({c.rows, c.terms}), 1, -2, 2),
        RandomTensor(DType::kBfloat16, weights, 2, -weight, weight)};
    AddOperands(chain, Shape({c.rows, c.columns}), inputs);
    return inputs;
  }
};

TEST_P(Bfloat16ProductTest, AgreesWithFloats) { ForChains(ExpectAgreement); }

TEST_P(Bfloat16ProductTest, BitsDoNotDependOnTheRow) {
  const Product& c = GetParam();
  const std::vector<std::string> chain = {"BiasAdd", "_GeluExact"};
  std::vector<Tensor> inputs = Inputs(chain);
  bfloat16* const a = inputs[0].data<bfloat16>();
  for (int64_t r = 1; r < c.rows; ++r) std::copy_n(a, c.terms, a + r * c.terms);
  for (const int threads : {1, 2, 5}) {
    const auto y = RunNode(NodeFor("_MklNative", DType::kBfloat16, chain), inputs,
                           {.threads = threads, .constants = {1}});
    ASSERT_TRUE(y.ok()) << y.status();
    const auto* first = reinterpret_cast<const uint16_t*>(y->outputs[0].raw());
    for (int64_t i = 0; i < c.rows * c.columns; ++i) {
      ASSERT_EQ(first[i], first[i % c.columns]) << "row " << i / c.columns;
    }
  }
}

TEST_P(Bfloat16ProductTest, KeepsInfinitiesAndNan) { ForChains(ExpectSpecialValues); }

INSTANTIATE_TEST_SUITE_P(Cases, Bfloat16ProductTest, testing::ValuesIn(kProducts),
                         [](const auto& info) {
                           return absl::StrCat(info.param.rows, "x", info.param.terms, "x",
                                               info.param.columns,
                                               info.param.transposed ? "_transposed" : "");
                         });

}  // namespace
}  // namespace tenon
