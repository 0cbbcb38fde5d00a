// Compares every unary op with its definition in double, on every kind of value and length.
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/quantiles.h"
#include "kernels/elementwise/unary_binary.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct Reference {
  std::function<double(double)> f;
  double ulps;               // allowed, relative to the exact value, plus
  double absolute;           // an absolute error if the formula itself cancels
  double absolute_by_x = 0;  // likewise, times |x|
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Relu6(double x) { return x < 0 ? 0 : x > 6 ? 6 : x; }
double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

const std::map<ElementwiseOp, Reference>& References() {
  using E = ElementwiseOp;
  static const auto& table = *new std::map<ElementwiseOp, Reference>{
      {E::kCopy, {[](double x) { return x; }, 0, 0}},
      {E::kAbs, {[](double x) { return std::fabs(x); }, 0, 0}},
      {E::kNeg, {[](double x) { return -x; }, 0, 0}},
      {E::kSquare, {[](double x) { return x * x; }, 0.5, 0}},
      {E::kSqrt, {[](double x) { return std::sqrt(x); }, 0.5, 0}},
      {E::kRsqrt, {[](double x) { return 1 / std::sqrt(x); }, 1.5, 0}},
      {E::kReciprocal, {[](double x) { return 1 / x; }, 0.5, 0}},
      {E::kSign, {[](double x) { return x > 0   ? 1
                                        : x < 0 ? -1
                                                : x; }, 0, 0}},
      {E::kFloor, {[](double x) { return std::floor(x); }, 0, 0}},
      {E::kCeil, {[](double x) { return std::ceil(x); }, 0, 0}},
      {E::kRint, {[](double x) { return std::nearbyint(x); }, 0, 0}},
      {E::kExp, {[](double x) { return std::exp(x); }, 2, 0}},
      {E::kExpm1, {[](double x) { return std::expm1(x); }, 4, 0}},
      {E::kLog, {[](double x) { return std::log(x); }, 2, 0}},
      {E::kLog1p, {[](double x) { return std::log1p(x); }, 4, 0}},
      {E::kErf, {[](double x) { return std::erf(x); }, 2, 0}},
      {E::kErfc, {[](double x) { return std::erfc(x); }, 6, 0}},
      {E::kTanh, {[](double x) { return std::tanh(x); }, 4, 0}},
      {E::kSin, {[](double x) { return std::sin(x); }, 2, 0}},
      {E::kCos, {[](double x) { return std::cos(x); }, 2, 0}},
      {E::kAsin, {[](double x) { return std::asin(x); }, 2, 0}},
      {E::kAcos, {[](double x) { return std::acos(x); }, 2, 0}},
      {E::kAtan, {[](double x) { return std::atan(x); }, 2, 0}},
      {E::kTan, {[](double x) { return std::tan(x); }, 3, 0}},
      {E::kSinh, {[](double x) { return std::sinh(x); }, 2, 0}},
      {E::kCosh, {[](double x) { return std::cosh(x); }, 2, 0}},
      {E::kAsinh, {[](double x) { return std::asinh(x); }, 2, 0}},
      {E::kAcosh, {[](double x) { return std::acosh(x); }, 2, 0}},
      {E::kAtanh, {[](double x) { return std::atanh(x); }, 2, 0}},
      {E::kErfinv, {InverseErf, 2.5, 0}},
      {E::kNdtri, {static_cast<double (*)(double)>(NormalQuantile), 2.5, 0}},
      {E::kSigmoid, {Sigmoid, 4, 1e-37}},
      {E::kRelu, {[](double x) { return x < 0 ? 0 : x; }, 0, 0}},
      {E::kRelu6, {Relu6, 0, 0}},
      {E::kLeakyRelu, {[](double x) { return x < 0 ? double{0.2f} * x : x; }, 0.5, 0}},
      {E::kElu, {[](double x) { return x < 0 ? std::expm1(x) : x; }, 4, 0}},
      {E::kSelu,
       {[](double x) {
          return x < 0 ? 1.7580993408473768599 * std::expm1(x) : 1.0507009873554804934 * x;
        },
        5, 0}},
      {E::kSoftplus, {Softplus, 4, 1e-37}},
      {E::kSoftsign, {[](double x) { return x / (1 + std::fabs(x)); }, 2, 0}},
      {E::kGeluExact,
       {[](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }, 3, 1e-38, 2e-7}},
      {E::kGeluApproximate,
       {[](double x) {
          const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
          return x * Sigmoid(2 * u);
        },
        16, 1e-8}},
      {E::kSwish, {[](double x) { return x * Sigmoid(x); }, 5, 1e-35}},
      {E::kHardSwish, {[](double x) { return x * Relu6(x + 3) / 6; }, 4, 1e-6}},
      {E::kMish, {[](double x) { return x * std::tanh(Softplus(x)); }, 8, 1e-35}},
  };
  return table;
}

std::vector<float> Values() {
  std::vector<float> values = {0.0f,   -0.0f,   1.0f,  -1.0f, 0.5f,    -0.5f,   2.5f,    -2.5f,
                               3.0f,   -3.0f,   6.0f,  -6.0f, 6.5f,    20.0f,   -20.0f,  87.0f,
                               -87.5f, 88.7f,   89.0f, 90.0f, -103.0f, -105,    127.0f,  1e-3f,
                               -1e-3f, 1e-10f,  1e4f,  -1e4f, 1e-38f,  1e-40f,  -1e-40f, 1e38f,
                               -1e38f, 3.4e38f, kInf,  -kInf, kNaN,    0.7999f, 0.8001f, 0.625f};
  std::mt19937 rng(7);
  std::normal_distribution<float> normal(0, 2);
  for (int i = 0; i < 40000; ++i) values.push_back(normal(rng));
  std::uniform_real_distribution<float> wide(-12, 12), exponent(-36, 36);
  for (int i = 0; i < 40000; ++i) values.push_back(wide(rng));
  for (int i = 0; i < 2000; ++i) {
    values.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10.0f, exponent(rng)));
  }
  // Near 1 and -1, where inverse functions end.
  std::uniform_real_distribution<float> bits(0, 24);
  for (int i = 0; i < 2000; ++i) {
    values.push_back((i % 2 == 0 ? 1 : -1) * (1 - std::exp2(-bits(rng))));
  }
  // Near the zeros of sines and cosines.
  for (int i = 1; i < 22000; i += i < 100 ? 1 : 37) {
    values.push_back(static_cast<float>(i * 1.5707963267948966));
  }
  return values;
}

absl::StatusOr<std::vector<Tensor>> RunUnary(const ElementwiseInfo& info,
                                             const std::vector<Tensor>& inputs,
                                             const std::vector<Shape>& outputs, int threads = 1) {
  return RunFactory([&](PrepareContext& p) { return VectorUnary(p, info.op); }, MakeNode(info.name),
                    inputs, outputs, threads);
}

class UnaryTest : public TargetTest<ElementwiseInfo> {};

TEST_P(UnaryTest, HasTheValuesOfItsDefinition) {
  const ElementwiseInfo info = GetCase();
  ASSERT_TRUE(References().contains(info.op)) << info.name;
  const Reference& reference = References().at(info.op);
  const Tensor x = Tensor::Vector<float>(Values());
  const auto y = RunUnary(info, {x}, {x.shape()});
  ASSERT_TRUE(y.ok()) << y.status();
  double worst = 0;
  float worst_x = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const float xi = x.data<float>()[i], got = (*y)[0].data<float>()[i];
    const double expected = reference.f(xi);
    // Results that overflow, or whose intermediates fall below the smallest normal, are not
    // checked.
    const double by_x = std::isfinite(xi) ? reference.absolute_by_x * std::fabs(xi) : 0;
    if (std::fabs(got - expected) <= reference.absolute + by_x) continue;
    const double ulps = Ulps(got, expected);
    if (ulps > worst) worst = ulps, worst_x = xi;
  }
  EXPECT_LE(worst, reference.ulps)
      << info.name << " at " << worst_x << ": exact " << reference.f(worst_x);
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST_P(UnaryTest, EveryLengthAndThreadCountGivesTheSameBits) {
  const ElementwiseInfo info = GetCase();
  const Tensor x = Uniform(Shape({300007}), 3, -4, 4);
  const auto whole = RunUnary(info, {x}, {x.shape()});
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto threaded = RunUnary(info, {x}, {x.shape()}, 2);
  ASSERT_TRUE(threaded.ok()) << threaded.status();
  EXPECT_EQ(0, std::memcmp((*whole)[0].raw(), (*threaded)[0].raw(), x.bytes()));
  for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1023, 1024, 1025}) {
    const Tensor part =
        Tensor::FromExternal(DType::kFloat, Shape({n}), const_cast<void*>(x.raw()), nullptr);
    const auto y = RunUnary(info, {part}, {part.shape()});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(0, std::memcmp((*whole)[0].raw(), (*y)[0].raw(), (*y)[0].bytes())) << n;
  }
}

std::vector<ElementwiseInfo> UnaryOps() {
  std::vector<ElementwiseInfo> ops;
  for (const ElementwiseInfo& info : ElementwiseTable()) {
    if (info.arity() == 1) ops.push_back(info);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(AllOps, UnaryTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(UnaryOps())),
                         [](const auto& i) {
                           return std::string(hwy::TargetName(std::get<0>(i.param).bit)) + "_" +
                                  std::get<1>(i.param).name;
                         });

TEST(VectorUnary, ReadsAlpha) {
  Node node = MakeNode("LeakyRelu");
  node.attrs["alpha"] = AttrValue(2.0f);
  const Tensor x = Tensor::Vector<float>({-1, 3});
  const auto y = RunFactory(VectorUnary<ElementwiseOp::kLeakyRelu>, node, {x}, {x.shape()});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].flat<float>(), testing::ElementsAre(-2, 3));
}

TEST(VectorUnary, RefusesOtherTypesAndOps) {
  const Tensor x = Tensor::Vector<int32_t>({1});
  EXPECT_TRUE(absl::IsUnimplemented(
      RunFactory(VectorUnary<ElementwiseOp::kRelu>, MakeNode("Relu"), {x}, {x.shape()}).status()));
  const Tensor f = Tensor::Vector<float>({1});
  EXPECT_TRUE(absl::IsUnimplemented(
      RunFactory(VectorUnary<ElementwiseOp::kAdd>, MakeNode("Add"), {f}, {f.shape()}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(
      RunFactory(VectorUnary<ElementwiseOp::kMulAdd>, MakeNode("_"), {f}, {f.shape()}).status()));
}

}  // namespace
}  // namespace tenon
