// Layer normalization, RMSNorm and softmax: vector and reference kernels against loops in double.
#include <cmath>
#include <cstring>

#include "Eigen/Core"
#include "env/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

absl::StatusOr<std::vector<Tensor>> RunNode(const Node& node, const std::vector<Tensor>& inputs,
                                            int threads = 1) {
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  services.threads = threads;
  return Evaluate(node, inputs, services);
}

// Runs the native and the plain op on one and two threads; the number of threads must not change a
// bit.
std::vector<std::vector<Tensor>> RunEveryWay(Node node, const std::string& native,
                                             const std::vector<Tensor>& inputs) {
  std::vector<std::vector<Tensor>> results;
  for (const std::string& op : {native, node.op}) {
    node.op = op;
    const auto one = RunNode(node, inputs, 1), two = RunNode(node, inputs, 2);
    EXPECT_TRUE(one.ok()) << one.status();
    EXPECT_TRUE(two.ok()) << two.status();
    if (!one.ok() || !two.ok()) return {};
    for (size_t i = 0; i < one->size(); ++i) {
      EXPECT_EQ(0, std::memcmp((*one)[i].raw(), (*two)[i].raw(), (*one)[i].bytes())) << op;
    }
    results.push_back(*one);
  }
  return results;
}

Tensor Narrowed(const Tensor& t) {
  Tensor n = *Tensor::Allocate(DType::kBfloat16, t.shape());
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    n.data<bfloat16>()[i] = static_cast<bfloat16>(t.data<float>()[i]);
  }
  return n;
}
Tensor Widened(const Tensor& t) {
  Tensor w = *Tensor::Allocate(DType::kFloat, t.shape());
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    w.data<float>()[i] = static_cast<float>(t.data<bfloat16>()[i]);
  }
  return w;
}

struct NormCase {
  Shape shape;
  bool rms = false;  // RMSNorm: no mean, no beta
  friend void PrintTo(const NormCase& c, std::ostream* os) {
    *os << (c.rms ? "rms" : "layer") << c.shape.ToString();
  }
};

std::vector<NormCase> NormCases() {
  std::vector<NormCase> cases;
  for (const bool rms : {false, true}) {
    for (const Shape& shape :
         {Shape({1}), Shape({3, 1}), Shape({0, 5}), Shape({5, 0}), Shape({2, 7}), Shape({2, 8}),
          Shape({2, 9}), Shape({3, 15}), Shape({3, 16}), Shape({3, 17}), Shape({2, 2, 31}),
          Shape({2, 2, 32}), Shape({2, 2, 33}), Shape({2, 47}), Shape({2, 100}), Shape({300, 768}),
          Shape({1, 2, 1, 2, 2051})}) {
      cases.push_back({shape, rms});
    }
  }
  return cases;
}

class NormTest : public TargetTest<NormCase> {
 protected:
  // The op, without its prefix.
  static std::string Op(bool rms, bool add) {
    return std::string(add ? "Add" : "") + (rms ? "RmsNorm" : "LayerNorm");
  }
};

TEST_P(NormTest, AgreesWithDouble) {
  const auto [shape, rms] = GetCase();
  const int64_t n = shape.dim(shape.rank() - 1), rows = n == 0 ? 0 : shape.num_elements() / n;
  const Tensor gamma = Uniform(Shape({n}), 1, 0.5, 1.5), beta = Uniform(Shape({n}), 2);
  const Tensor residual = Uniform(shape, 4);
  for (const float offset : {0.0f, 100.0f}) {
    const Tensor x = Uniform(shape, 3, offset - 2, offset + 2);
    for (const bool add : {false, true}) {
      Node node = MakeNode("_" + Op(rms, add));
      const float epsilon = 1e-6f;
      node.attrs["epsilon"] = AttrValue(epsilon);
      node.attrs["T"] = AttrValue(DType::kFloat);
      std::vector<Tensor> inputs = {x};
      if (add) inputs.push_back(residual);
      inputs.push_back(gamma);
      if (!rms) inputs.push_back(beta);
      for (const std::vector<Tensor>& result :
           RunEveryWay(node, "_MklNative" + Op(rms, add), inputs)) {
        for (int64_t r = 0; r < rows; ++r) {
          std::vector<double> s;
          double mean = 0, variance = 0, largest = 0;
          for (int64_t i = 0; i < n; ++i) {
            const float xi = x.data<float>()[r * n + i];
            // The sum is also an output, rounded to float.
            s.push_back(add ? xi + residual.data<float>()[r * n + i] : xi);
            if (add) {
              ASSERT_EQ(result[1].data<float>()[r * n + i], static_cast<float>(s.back()));
            }
            if (!rms) mean += s.back() / static_cast<double>(n);
            largest = std::max(largest, std::fabs(s.back()));
          }
          for (double v : s) variance += (v - mean) * (v - mean) / static_cast<double>(n);
          const double scale = 1 / std::sqrt(variance + epsilon);
          for (int64_t i = 0; i < n; ++i) {
            const double g = gamma.data<float>()[i], b = rms ? 0 : beta.data<float>()[i];
            const double expected = (s[static_cast<size_t>(i)] - mean) * scale * g + b;
            // The mean of n values is off by up to sqrt(n) roundings of the largest of them.
            const double tolerance =
                0x1p-24 * ((4 + std::sqrt(n)) * largest * scale * g + 8 * std::fabs(expected) + 2);
            ASSERT_NEAR(result[0].data<float>()[r * n + i], expected, tolerance)
                << add << " row " << r << " column " << i;
          }
        }
      }
    }
  }
}

TEST_P(NormTest, Bfloat16RoundsTheFloatResult) {
  const auto [shape, rms] = GetCase();
  const int64_t n = shape.dim(shape.rank() - 1);
  const Tensor x = Narrowed(Uniform(shape, 3));
  std::vector<Tensor> inputs = {x, x, Narrowed(Uniform(Shape({n}), 1))}, wide_inputs;
  if (!rms) inputs.push_back(Narrowed(Uniform(Shape({n}), 2)));
  for (const Tensor& t : inputs) wide_inputs.push_back(Widened(t));
  Node node = MakeNode("_MklNative" + Op(rms, true));
  node.attrs["epsilon"] = AttrValue(1e-3f);
  node.attrs["T"] = AttrValue(DType::kBfloat16);
  const auto narrow = RunNode(node, inputs, 2);
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  node.attrs["T"] = AttrValue(DType::kFloat);
  const auto wide = RunNode(node, wide_inputs);
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_TRUE(Identical((*narrow)[0], Narrowed((*wide)[0])));
  EXPECT_TRUE(Identical((*narrow)[1], Narrowed((*wide)[1])));
}

INSTANTIATE_TEST_SUITE_P(Shapes, NormTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(NormCases())));

// TensorFlow with oneDNN once used 0.001 for any epsilon: rows of small variance reveal it.
TEST(LayerNorm, KeepsItsEpsilon) {
  Node node = MakeNode("_MklNativeLayerNorm");
  node.attrs["epsilon"] = AttrValue(1e-12f);
  node.attrs["T"] = AttrValue(DType::kFloat);
  const Tensor x = Tensor::From<float>(Shape({1, 4}), {1e-4f, -1e-4f, 1e-4f, -1e-4f});
  const Tensor one = Tensor::Vector<float>({1, 1, 1, 1}),
               zero = Tensor::Vector<float>({0, 0, 0, 0});
  const auto y = RunNode(node, {x, one, zero});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_NEAR((*y)[0].data<float>()[0], 1e-4 / std::sqrt(1e-8 + 1e-12), 1e-6);
}

TEST(LayerNorm, ChecksItsShapes) {
  Node node = MakeNode("_LayerNorm");
  node.attrs["epsilon"] = AttrValue(1e-6f);
  node.attrs["T"] = AttrValue(DType::kFloat);
  const Tensor x = Uniform(Shape({2, 4}), 1), g = Uniform(Shape({3}), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(RunNode(node, {x, g, g}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(RunNode(node, {x, x, x}).status()));
}

struct SoftmaxCase {
  std::vector<Shape> inputs;  // logits, masks
  friend void PrintTo(const SoftmaxCase& c, std::ostream* os) {
    for (const Shape& s : c.inputs) *os << s.ToString();
  }
};

class SoftmaxTest : public TargetTest<SoftmaxCase> {};

TEST_P(SoftmaxTest, AgreesWithDouble) {
  std::vector<Tensor> inputs;
  Shape out;
  for (const Shape& s : GetCase().inputs) {
    inputs.push_back(Uniform(s, static_cast<unsigned>(inputs.size()) + 1, -20, 20));
    out = *BroadcastShapes(out, s);
  }
  const int64_t n = out.dim(out.rank() - 1), rows = n == 0 ? 0 : out.num_elements() / n;
  for (const std::string op : {"Softmax", "LogSoftmax", "_FusedSoftmax"}) {
    const bool fused = op == "_FusedSoftmax";
    if (!fused && inputs.size() > 1) continue;
    const float scale = fused ? 0.125f : 1.0f;
    Node node = MakeNode(op);
    node.attrs["T"] = AttrValue(DType::kFloat);
    if (fused) {
      node.attrs["num_masks"] = AttrValue(static_cast<int64_t>(inputs.size() - 1));
      node.attrs["num_conditions"] = AttrValue(int64_t{0});
      node.attrs["scale"] = AttrValue(scale);
    }
    const std::string native = fused ? "_MklNativeFusedSoftmax" : "_MklNative" + op;
    for (const std::vector<Tensor>& result : RunEveryWay(node, native, inputs)) {
      ASSERT_EQ(result[0].shape(), out);
      for (int64_t r = 0; r < rows; ++r) {
        std::vector<double> t;
        double largest = -kInf, sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          double v = double{scale} * At(inputs[0], out, r * n + i);
          for (size_t k = 1; k < inputs.size(); ++k) v += At(inputs[k], out, r * n + i);
          t.push_back(v);
          largest = std::max(largest, v);
        }
        for (double v : t) sum += std::exp(v - largest);
        for (int64_t i = 0; i < n; ++i) {
          const double log = t[static_cast<size_t>(i)] - largest - std::log(sum);
          const double expected = op == "LogSoftmax" ? log : std::exp(log);
          // t itself, up to 50, is rounded for each input; that error is relative in e^t. Then
          // the sum, by sqrt(n) roundings.
          const double rounding =
              0x1p-24 * (64.0 * static_cast<double>(inputs.size()) + 8 + std::sqrt(n));
          const double tolerance = op == "LogSoftmax" ? rounding : rounding * expected + 1e-37;
          ASSERT_NEAR(result[0].data<float>()[r * n + i], expected, tolerance)
              << op << " row " << r << " column " << i;
        }
      }
    }
  }
}

TEST_P(SoftmaxTest, Bfloat16RoundsTheFloatResult) {
  std::vector<Tensor> narrow, wide;
  for (const Shape& s : GetCase().inputs) {
    narrow.push_back(Narrowed(Uniform(s, static_cast<unsigned>(narrow.size()) + 1, -4, 4)));
    wide.push_back(Widened(narrow.back()));
  }
  Node node = MakeNode("_MklNativeFusedSoftmax");
  node.attrs["num_masks"] = AttrValue(static_cast<int64_t>(narrow.size() - 1));
  node.attrs["num_conditions"] = AttrValue(int64_t{0});
  node.attrs["scale"] = AttrValue(0.5f);
  node.attrs["T"] = AttrValue(DType::kBfloat16);
  const auto y = RunNode(node, narrow, 2);
  ASSERT_TRUE(y.ok()) << y.status();
  node.attrs["T"] = AttrValue(DType::kFloat);
  const auto expected = RunNode(node, wide);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_TRUE(Identical((*y)[0], Narrowed((*expected)[0])));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SoftmaxTest,
    testing::Combine(
        testing::ValuesIn(Targets()),
        testing::Values(SoftmaxCase{{{1}}}, SoftmaxCase{{{0, 3}}}, SoftmaxCase{{{3, 0}}},
                        SoftmaxCase{{{5, 2}}}, SoftmaxCase{{{67, 2}}}, SoftmaxCase{{{5, 3}}},
                        SoftmaxCase{{{67, 3}}}, SoftmaxCase{{{3, 23, 4}}}, SoftmaxCase{{{67, 5}}},
                        SoftmaxCase{{{6, 6}}}, SoftmaxCase{{{37, 7}}}, SoftmaxCase{{{67, 8}}},
                        SoftmaxCase{{{5, 8}}}, SoftmaxCase{{{5, 9}}}, SoftmaxCase{{{5, 15}}},
                        SoftmaxCase{{{5, 16}}}, SoftmaxCase{{{5, 17}}}, SoftmaxCase{{{5, 31}}},
                        SoftmaxCase{{{5, 33}}}, SoftmaxCase{{{2, 1000}}},
                        SoftmaxCase{{{2, 1, 2, 1, 2, 1, 5}}}, SoftmaxCase{{{1, 12, 128, 128}}},
                        SoftmaxCase{{{2, 3, 10, 10}, {2, 1, 1, 10}}},
                        SoftmaxCase{{{2, 3, 20, 20}, {2, 1, 20, 20}}},
                        SoftmaxCase{{{2, 3, 20, 20}, {20}, {2, 3, 20, 1}}},
                        SoftmaxCase{{{3, 20, 1}, {3, 1, 20}}}, SoftmaxCase{{{20}, {4, 1, 20}}},
                        SoftmaxCase{{{4, 19}, {}}},
                        SoftmaxCase{{{2, 12, 128, 128}, {2, 1, 1, 128}}})));

TEST(Softmax, SpecialValuesMakeTheRowNaN) {
  for (const int n : {3, 20, 33}) {
    for (const float bad : {kNaN, kInf}) {
      for (const int at : {0, n / 2, n - 1}) {
        Tensor x = Uniform(Shape({2, n}), 1);
        x.data<float>()[at] = bad;
        for (const std::string op : {"Softmax", "_MklNativeSoftmax"}) {
          Node node = MakeNode(op);
          node.attrs["T"] = AttrValue(DType::kFloat);
          const auto y = RunNode(node, {x});
          ASSERT_TRUE(y.ok()) << y.status();
          for (int i = 0; i < n; ++i) {
            EXPECT_TRUE(std::isnan((*y)[0].data<float>()[i])) << op << n << bad << at;
            EXPECT_FALSE(std::isnan((*y)[0].data<float>()[n + i])) << op << n << bad << at;
          }
        }
      }
    }
  }
}

TEST(Softmax, MinusInfinityGetsNothing) {
  for (const std::string op : {"Softmax", "_MklNativeSoftmax"}) {
    Node node = MakeNode(op);
    node.attrs["T"] = AttrValue(DType::kFloat);
    const auto y = RunNode(node, {Tensor::Vector<float>({1, -kInf, 1, -kInf})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_THAT((*y)[0].flat<float>(), testing::ElementsAre(0.5f, 0, 0.5f, 0));
    const auto none = RunNode(node, {Tensor::Vector<float>({-kInf, -kInf})});
    EXPECT_TRUE(std::isnan((*none)[0].data<float>()[0]));
  }
}

TEST(Softmax, ConditionsHideEvenNaN) {
  const Shape out({2, 3, 20, 19});
  for (const Shape& shape : {Shape({2, 1, 1, 19}), Shape({2, 3, 20, 1}), Shape({19}), out}) {
    Tensor x = Uniform(out, 1, -4, 4), t = x;
    const Tensor chance = Uniform(shape, 2, 0, 1);
    Tensor condition = *Tensor::Allocate(DType::kBool, shape);
    for (int64_t i = 0; i < chance.num_elements(); ++i) {
      condition.data<bool>()[i] = chance.data<float>()[i] < 0.6f;
    }
    t = *x.Clone();
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      if (At(chance, out, i) < 0.6f) {
        t.data<float>()[i] *= 0.5f;
      } else {
        t.data<float>()[i] = -3;
        x.data<float>()[i] = kNaN;
      }
    }
    Node plain = MakeNode("Softmax");
    plain.attrs["T"] = AttrValue(DType::kFloat);
    const auto expected = RunNode(plain, {t});
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (const std::string op : {"_FusedSoftmax", "_MklNativeFusedSoftmax"}) {
      Node node = MakeNode(op);
      node.attrs["num_masks"] = AttrValue(int64_t{0});
      node.attrs["num_conditions"] = AttrValue(int64_t{1});
      node.attrs["scale"] = AttrValue(0.5f);
      node.attrs["masked"] = AttrValue(-3.0f);
      node.attrs["T"] = AttrValue(DType::kFloat);
      const auto y = RunNode(node, {x, condition}, 2);
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        ASSERT_NEAR((*y)[0].data<float>()[i], (*expected)[0].data<float>()[i], 1e-6)
            << op << shape.ToString() << i;
      }
    }
  }
}

TEST(Softmax, RefusesScalars) {
  Node node = MakeNode("Softmax");
  node.attrs["T"] = AttrValue(DType::kFloat);
  EXPECT_TRUE(absl::IsInvalidArgument(RunNode(node, {Tensor::Scalar(1.0f)}).status()));
}

}  // namespace
}  // namespace tenon
