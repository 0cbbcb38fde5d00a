#include <gtest/gtest.h>

#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Names = std::vector<std::string>;

struct Sizes {
  int64_t m, n, k;
};

TEST(MatMul, MatchesReference) {
  for (const Sizes& s :
       {Sizes{1, 1, 1}, Sizes{1, 64, 33}, Sizes{7, 5, 129}, Sizes{33, 100, 17}, Sizes{128, 96, 64},
        Sizes{1, 1, 256}, Sizes{3, 1, 5}, Sizes{2, 512, 1024}, Sizes{200, 257, 130},
        Sizes{1, 300, 512}, Sizes{300, 1, 512}, Sizes{100, 520, 610}}) {
    for (bool ta : {false, true}) {
      for (bool tb : {false, true}) {
        const Tensor a = RandomTensor(DType::kFloat, ta ? Shape({s.k, s.m}) : Shape({s.m, s.k}), 1);
        const Tensor b = RandomTensor(DType::kFloat, tb ? Shape({s.n, s.k}) : Shape({s.k, s.n}), 2);
        const AttrMap attrs{{"T", DType::kFloat}, {"transpose_a", ta}, {"transpose_b", tb}};
        for (bool constant : {false, true}) {
          SCOPED_TRACE(testing::Message() << s.m << "x" << s.n << "x" << s.k << " ta " << ta
                                          << " tb " << tb << " const " << constant);
          NodeRunOptions options{.threads = constant ? 2 : 1};
          if (constant) options.constants = {1};
          ExpectNativeMatches("MatMul", attrs, {a, b}, options, s.k);
        }
      }
    }
  }
}

TEST(MatMul, FusedChainsMatchReference) {
  for (const Sizes& s : {Sizes{1, 64, 33}, Sizes{5, 96, 40}, Sizes{64, 48, 32}, Sizes{1, 1, 7}}) {
    const Tensor a = RandomTensor(DType::kFloat, {s.m, s.k}, 1);
    const Tensor b = RandomTensor(DType::kFloat, {s.k, s.n}, 2);
    const Tensor bias = RandomTensor(DType::kFloat, {s.n}, 3);
    const Tensor residual = RandomTensor(DType::kFloat, {s.m, s.n}, 4);
    const Tensor column = RandomTensor(DType::kFloat, {s.m, 1}, 5);
    const Tensor scalar = RandomTensor(DType::kFloat, {}, 6);
    struct Chain {
      Names ops;
      std::vector<Tensor> args;
    };
    for (const Chain& chain :
         {Chain{{"BiasAdd"}, {bias}}, Chain{{"BiasAdd", "Relu"}, {bias}},
          Chain{{"BiasAdd", "Add"}, {bias, residual}}, Chain{{"BiasAdd", "_GeluExact"}, {bias}},
          Chain{{"BiasAdd", "_GeluApproximate"}, {bias}}, Chain{{"Sigmoid"}, {}},
          Chain{{"Add", "Tanh"}, {residual}}, Chain{{"Add", "Relu"}, {column}},
          Chain{{"Mul", "Add"}, {scalar, residual}}, Chain{{"Mul", "Add", "Selu"}, {bias, bias}},
          Chain{{"BiasAdd", "LeakyRelu", "Mul"}, {bias, residual}},
          Chain{{"BiasAdd", "Softplus"}, {bias}}, Chain{{"BiasAdd", "_Mish"}, {bias}},
          Chain{{"BiasAdd", "Exp", "Sqrt"}, {bias}}, Chain{{"Abs", "Square"}, {}}}) {
      AttrMap attrs{{"T", DType::kFloat},
                    {"fused_ops", chain.ops},
                    {"num_args", static_cast<int64_t>(chain.args.size())}};
      std::vector<Tensor> inputs = {a, b};
      inputs.insert(inputs.end(), chain.args.begin(), chain.args.end());
      std::string label;
      for (const std::string& name : chain.ops) label += name + " ";
      SCOPED_TRACE(testing::Message() << label << s.m << "x" << s.n << "x" << s.k);
      for (bool in_place : {false, true}) {
        ExpectNativeMatches("_FusedMatMul", attrs, inputs,
                            {.threads = 2, .constants = {1}, .in_place = in_place}, s.k);
      }
      ExpectNativeMatches("_FusedMatMul", attrs, inputs, {}, s.k);
    }
  }
}

// Each activation on a wide range of inputs: its input is the product, a times one.
TEST(MatMul, ActivationsOnTheWholeRange) {
  Tensor a = RandomTensor(DType::kFloat, {128, 1}, 1, -120, 120);
  const float special[] = {0.0f,  -0.0f,  1e-30f, -1e-30f, 1e-4f, -1e-4f, 3.0f,   -3.0f, 6.0f,
                           88.8f, -88.8f, 1e30f,  -1e30f,  0.5f,  -0.5f,  -17.0f, -5.5f, -3.9f};
  std::copy(std::begin(special), std::end(special), a.data<float>());
  const Tensor one = Tensor::From<float>({1, 16}, std::vector<float>(16, 1.0f));
  absl::StatusOr<RunResult> product =
      RunNode(MakeNode("MatMul", {{"T", DType::kFloat}}), {a, one}, {});
  ASSERT_TRUE(product.ok());
  for (const ElementwiseInfo& info : ElementwiseTable()) {
    if (!info.post_op.has_value() || info.arity() != 1) continue;
    const std::string op = info.name;
    const AttrMap attrs{{"T", DType::kFloat}, {"num_args", 0}, {"fused_ops", Names{op}}};
    Node node = MakeNode("_FusedMatMul", attrs);
    absl::StatusOr<RunResult> want = RunNode(node, {a, one}, {});
    node.op = "_MklNativeFusedMatMul";
    absl::StatusOr<RunResult> got = RunNode(node, {a, one}, {.constants = {1}});
    ASSERT_TRUE(want.ok() && got.ok());
    absl::StatusOr<RunResult> single =
        RunNode(MakeNode(op, {{"T", DType::kFloat}}), {product->outputs[0]}, {});
    ASSERT_TRUE(single.ok());
    EXPECT_TRUE(Identical(want->outputs[0], single->outputs[0])) << op << " by itself";
    for (int64_t i = 0; i < want->outputs[0].num_elements(); ++i) {
      const float w = want->outputs[0].data<float>()[i], g = got->outputs[0].data<float>()[i];
      const float x = a.data<float>()[i / 16];
      if (std::isnan(w) || std::isinf(w)) {
        EXPECT_TRUE(std::isnan(w) ? std::isnan(g) : w == g) << op << "(" << x << ") " << g;
      } else {
        // exp(x) changes by |x| times the relative rounding of its argument.
        const double exponent = op == "Exp" ? std::abs(x) * std::ldexp(1.0, -24) : 0;
        EXPECT_NEAR(g, w, 1e-6 + std::max(4e-6, exponent) * std::abs(w)) << op << "(" << x << ")";
      }
    }
  }
}

TEST(MatMul, RowsOfSmallConstants) {
  for (const bool transposed : {false, true}) {
    const Tensor a = RandomTensor(DType::kFloat, Shape({40, 30}), 1);
    const Tensor b = RandomTensor(DType::kFloat, transposed ? Shape({50, 30}) : Shape({30, 50}), 2);
    const Node node =
        MakeNode("_MklNativeMatMul", {{"T", DType::kFloat}, {"transpose_b", transposed}});
    absl::StatusOr<RunResult> got = RunNode(node, {a, b}, {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, "rows");
    absl::StatusOr<RunResult> want = RunNode(
        MakeNode("MatMul", {{"T", DType::kFloat}, {"transpose_b", transposed}}), {a, b}, {});
    ASSERT_TRUE(want.ok()) << want.status();
    EXPECT_LT(RelativeError(got->outputs[0], want->outputs[0]), 1e-5);
  }
}

// Threads take 64 results each, so that the last one may take a single one.
TEST(MatMul, ThreadsShareAVectorsResults) {
  for (const int64_t n : {64, 65, 129, 257, 300}) {
    SCOPED_TRACE(n);
    const NodeRunOptions options{.threads = 6};
    const AttrMap plain{{"T", DType::kFloat}},
        transposed{{"T", DType::kFloat}, {"transpose_b", true}};
    const auto random = [](int64_t rows, int64_t columns) {
      return RandomTensor(DType::kFloat, Shape({rows, columns}), static_cast<uint32_t>(rows));
    };
    ExpectNativeMatches("MatMul", plain, {random(n, 300), random(300, 1)}, options, 64);
    ExpectNativeMatches("MatMul", transposed, {random(n, 300), random(1, 300)}, options, 64);
    ExpectNativeMatches("MatMul", transposed, {random(1, 300), random(n, 300)}, options, 64);
    ExpectNativeMatches("MatMul", plain, {random(1, 300), random(300, n)}, options, 64);
    const AttrMap fused{{"T", DType::kFloat},
                        {"transpose_b", true},
                        {"fused_ops", Names{"BiasAdd", "Relu"}},
                        {"num_args", 1}};
    const Tensor bias = RandomTensor(DType::kFloat, Shape({1}), 3);
    ExpectNativeMatches("_FusedMatMul", fused, {random(n, 300), random(1, 300), bias}, options, 64);
  }
}

TEST(MatMul, NothingToSumOverStillAppliesTheChain) {
  const AttrMap attrs{
      {"T", DType::kFloat}, {"fused_ops", Names{"BiasAdd", "Relu"}}, {"num_args", 1}};
  const Tensor bias = Tensor::From<float>({3}, {-1, 2, 3});
  for (const char* op : {"_FusedMatMul", "_MklNativeFusedMatMul"}) {
    absl::StatusOr<RunResult> got = RunNode(
        MakeNode(op, attrs),
        {RandomTensor(DType::kFloat, {2, 0}, 1), RandomTensor(DType::kFloat, {0, 3}, 1), bias}, {});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(Identical(got->outputs[0], Tensor::From<float>({2, 3}, {0, 2, 3, 0, 2, 3}))) << op;
  }
}

TEST(MatMul, Integers) {
  for (const char* op : {"MatMul", "_MklNativeMatMul"}) {
    absl::StatusOr<RunResult> got = RunNode(
        MakeNode(op, {{"T", DType::kInt32}, {"transpose_b", true}}),
        {Tensor::From<int32_t>({1, 2}, {3, 4}), Tensor::From<int32_t>({2, 2}, {1, 2, 5, -6})}, {});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(Identical(got->outputs[0], Tensor::From<int32_t>({1, 2}, {11, -9})));
  }
}

TEST(BatchMatMul, MatchesReference) {
  struct Case {
    Shape x, y;
    bool adj_x = false, adj_y = false;
  };
  for (const Case& c :
       {Case{{3, 5, 7}, {3, 7, 9}}, Case{{2, 3, 5, 7}, {2, 3, 7, 9}},
        Case{{2, 1, 5, 7}, {1, 3, 7, 9}}, Case{{4, 16, 32}, {32, 24}}, Case{{5, 7}, {4, 7, 9}},
        Case{{2, 12, 16, 64}, {2, 12, 16, 64}, false, true},
        Case{{2, 3, 7, 5}, {2, 3, 9, 7}, true, true}, Case{{3, 1, 1}, {1, 1, 1}},
        Case{{2, 8, 1}, {2, 1, 8}},
        // Vectors and few rows, which own loops multiply; threads share rows, or their results.
        Case{{12, 1, 64}, {12, 129, 64}, false, true}, Case{{12, 1, 129}, {12, 129, 64}},
        Case{{2, 1, 300}, {2, 300, 193}}, Case{{2, 257, 300}, {2, 300, 1}},
        Case{{2, 1, 300}, {2, 257, 300}, false, true}, Case{{200, 3, 3}, {200, 3, 3}},
        Case{{200, 3, 3}, {200, 3, 1}}, Case{{200, 4, 3}, {200, 4, 3}, true, false},
        Case{{7, 3, 64}, {7, 33, 64}, false, true}, Case{{7, 33, 64}, {7, 3, 64}, false, true},
        Case{{4, 3, 1, 64}, {4, 1, 64, 21}}, Case{{4, 3, 1, 64}, {1, 1, 64, 21}}}) {
    SCOPED_TRACE(c.x.ToString() + c.y.ToString());
    const AttrMap attrs{{"T", DType::kFloat}, {"adj_x", c.adj_x}, {"adj_y", c.adj_y}};
    const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, c.x, 1),
                                        RandomTensor(DType::kFloat, c.y, 2)};
    ExpectNativeMatches("BatchMatMulV2", attrs, inputs, {.threads = 2}, 64);
    ExpectNativeMatches("BatchMatMulV2", attrs, inputs, {.threads = 9}, 64);
    ExpectNativeMatches("BatchMatMulV2", attrs, inputs, {.constants = {1}}, 64);
  }
}

TEST(BatchMatMul, ScaleAndMask) {
  const AttrMap attrs{
      {"T", DType::kFloat}, {"adj_y", true}, {"fused_ops", Names{"Mul", "Add"}}, {"num_args", 2}};
  ExpectNativeMatches(
      "_FusedBatchMatMulV2", attrs,
      {RandomTensor(DType::kFloat, {2, 4, 16, 8}, 1), RandomTensor(DType::kFloat, {2, 4, 16, 8}, 2),
       RandomTensor(DType::kFloat, {}, 3), RandomTensor(DType::kFloat, {2, 1, 1, 16}, 4)},
      {.threads = 2}, 8);
}

TEST(BatchMatMul, ComplexAdjoint) {
  using Complex = std::complex<float>;
  const Tensor x = Tensor::From<Complex>({1, 1, 1}, {{1, 2}});
  const Tensor y = Tensor::From<Complex>({1, 1, 1}, {{3, 4}});
  absl::StatusOr<RunResult> got =
      RunNode(MakeNode("BatchMatMulV2", {{"T", DType::kComplex64}, {"adj_x", true}}), {x, y}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->outputs[0].data<Complex>()[0], Complex(11, -2));
}

TEST(BatchMatMul, BytesIntoInt32) {
  absl::StatusOr<RunResult> got = RunNode(
      MakeNode("BatchMatMulV3",
               {{"Ta", DType::kInt8}, {"Tb", DType::kInt8}, {"Tout", DType::kInt32}}),
      {Tensor::From<int8_t>({1, 1, 2}, {100, -100}), Tensor::From<int8_t>({1, 2, 1}, {100, 100})},
      {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->outputs[0].data<int32_t>()[0], 0);
}

}  // namespace
}  // namespace tenon
