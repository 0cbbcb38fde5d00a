// Binary ops with every form of broadcasting, against plain loops.
#include <cmath>
#include <cstring>

#include "Eigen/Core"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/elementwise_scalar.h"
#include "kernels/elementwise/unary_binary.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

constexpr float kAlpha = 0.2f;  // LeakyReluGrad's default

double Reference(ElementwiseOp op, double a, double b) {
  using E = ElementwiseOp;
  switch (op) {
    case E::kAdd:
      return a + b;
    case E::kSub:
      return a - b;
    case E::kMul:
      return a * b;
    case E::kDiv:
      return a / b;
    case E::kDivNoNan:
      return b == 0 ? 0 : a / b;
    case E::kMaximum:
      return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b);
    case E::kMinimum:
      return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b);
    case E::kSquaredDifference:
      return (a - b) * (a - b);
    default:
      return ScalarElementwise<double>(op, a, b, 0.0, static_cast<double>(kAlpha));
  }
}

// Their derivatives are differences, so errors are relative to the operands. The golden cases cover
// special values.
bool IsGradient(ElementwiseOp op) {
  return op >= ElementwiseOp::kReluGrad && op <= ElementwiseOp::kReciprocalGrad;
}

// One rounding, where not said otherwise.
double AllowedUlps(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kSquaredDifference:
      // Squaring doubles the relative error of the difference, which is up to one unit of the
      // result per half.
      return 2.5;
    case ElementwiseOp::kAtan2:
    case ElementwiseOp::kPow:
    case ElementwiseOp::kXlogy:
    case ElementwiseOp::kXlog1py:
      return 2;
    default:
      return 0.5;
  }
}

struct Case {
  Shape a, b;
  friend void PrintTo(const Case& c, std::ostream* os) {
    *os << c.a.ToString() << " and " << c.b.ToString();
  }
};

absl::StatusOr<std::vector<Tensor>> RunBinary(const ElementwiseInfo& info,
                                              const std::vector<Tensor>& inputs,
                                              const std::vector<Shape>& outputs, int threads = 1) {
  return RunFactory([&](PrepareContext& p) { return VectorBinary(p, info.op); },
                    MakeNode(info.name), inputs, outputs, threads);
}

class BinaryTest : public TargetTest<Case> {};

TEST_P(BinaryTest, BroadcastsLikeNumPy) {
  const Shape out = *BroadcastShapes(GetCase().a, GetCase().b);
  const Tensor a = Uniform(GetCase().a, 1), b = Uniform(GetCase().b, 2);
  for (const ElementwiseInfo& info : ElementwiseTable()) {
    if (info.arity() != 2) continue;
    const auto y = RunBinary(info, {a, b}, {out});
    ASSERT_TRUE(y.ok()) << y.status();
    const auto threaded = RunBinary(info, {a, b}, {out}, 2);
    ASSERT_TRUE(threaded.ok());
    EXPECT_EQ(0, std::memcmp((*y)[0].raw(), (*threaded)[0].raw(), (*y)[0].bytes()));
    const double ulps = AllowedUlps(info.op);
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      const double va = At(a, out, i), vb = At(b, out, i);
      const double expected = Reference(info.op, va, vb);
      if (IsGradient(info.op)) {
        const double size = (1 + std::fabs(va)) * (1 + std::fabs(va)) * (1 + std::fabs(vb));
        ASSERT_NEAR((*y)[0].data<float>()[i], expected, std::ldexp(size + std::fabs(expected), -22))
            << info.name << " at " << i;
        continue;
      }
      ASSERT_LE(Ulps((*y)[0].data<float>()[i], expected), ulps) << info.name << " at " << i;
    }
  }
}

TEST_P(BinaryTest, Bfloat16RoundsTheFloatResult) {
  const Shape out = *BroadcastShapes(GetCase().a, GetCase().b);
  const auto narrow = [](const Tensor& t) {
    Tensor n = *Tensor::Allocate(DType::kBfloat16, t.shape());
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      n.data<bfloat16>()[i] = static_cast<bfloat16>(t.data<float>()[i]);
    }
    return n;
  };
  const Tensor a = narrow(Uniform(GetCase().a, 1)), b = narrow(Uniform(GetCase().b, 2));
  const auto widen = [](const Tensor& t) {
    Tensor w = *Tensor::Allocate(DType::kFloat, t.shape());
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      w.data<float>()[i] = static_cast<float>(t.data<bfloat16>()[i]);
    }
    return w;
  };
  const auto y = RunFactory(VectorBinary<ElementwiseOp::kMul>, MakeNode("Mul"), {a, b}, {out});
  ASSERT_TRUE(y.ok()) << y.status();
  const auto exact =
      RunFactory(VectorBinary<ElementwiseOp::kMul>, MakeNode("Mul"), {widen(a), widen(b)}, {out});
  ASSERT_TRUE(exact.ok());
  EXPECT_TRUE(Identical((*y)[0], narrow((*exact)[0])));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BinaryTest,
    testing::Combine(
        testing::ValuesIn(Targets()),
        testing::Values(Case{{}, {}}, Case{{1}, {}}, Case{{0}, {1}}, Case{{3, 0, 2}, {2}},
                        Case{{17}, {17}}, Case{{1000}, {}}, Case{{}, {1000}}, Case{{5, 7}, {7}},
                        Case{{7}, {5, 7}}, Case{{5, 7}, {5, 1}}, Case{{5, 1}, {1, 7}},
                        Case{{2, 9, 9, 24}, {2, 1, 1, 24}}, Case{{2, 1, 1, 24}, {2, 9, 9, 24}},
                        Case{{2, 9, 9, 33}, {33}}, Case{{3, 4, 5, 6}, {4, 1, 6}},
                        Case{{3, 4, 1, 6}, {1, 4, 5, 1}}, Case{{3, 1, 5, 1, 7}, {2, 1, 4, 1}},
                        Case{{2, 3, 700}, {700}}, Case{{2, 3, 700}, {2, 1, 700}},
                        Case{{2, 3, 700}, {3, 1}}, Case{{3, 3000}, {3000}},
                        Case{{64, 64, 64}, {64}}, Case{{1, 112, 112, 32}, {1, 1, 1, 32}},
                        Case{{50, 3}, {50, 1}}, Case{{2, 12, 64, 64}, {2, 1, 1, 64}},
                        Case{{40, 511}, {511}}, Case{{40, 512}, {512}}, Case{{40, 513}, {513}},
                        Case{{2, 2048}, {2, 1}})));

TEST(VectorBinary, SpecialValues) {
  std::vector<float> values = {0.0f, -0.0f, 1, -1, kInf, -kInf, kNaN, 1e38f, 1e-38f};
  Tensor a = Tensor::From<float>(Shape({9, 1}), values);
  Tensor b = Tensor::From<float>(Shape({9}), values);
  for (const ElementwiseInfo& info : ElementwiseTable()) {
    if (info.arity() != 2 || IsGradient(info.op)) continue;
    const auto y = RunBinary(info, {a, b}, {Shape({9, 9})});
    ASSERT_TRUE(y.ok()) << y.status();
    for (size_t i = 0; i < 81; ++i) {
      const double expected = Reference(info.op, values[i / 9], values[i % 9]);
      // Intermediate overflow: float squares of 1e38.
      EXPECT_LE(Ulps((*y)[0].flat<float>()[i], expected), 2.5)
          << info.name << " " << values[i / 9] << " " << values[i % 9];
    }
  }
}

class BinaryFunctionTest : public TargetTest<ElementwiseOp> {
 protected:
  // Compares with the standard library, including the sign of zeros.
  void Compare(const Tensor& a, const Tensor& b) {
    const ElementwiseInfo& info = *FindElementwise(GetCase());
    const auto z = RunBinary(info, {a, b}, {a.shape()});
    ASSERT_TRUE(z.ok()) << z.status();
    double worst = 0;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const float va = a.data<float>()[i], vb = b.data<float>()[i], got = (*z)[0].data<float>()[i];
      const double expected = Reference(info.op, va, vb), ulps = Ulps(got, expected);
      EXPECT_LE(ulps, AllowedUlps(info.op)) << info.name << " " << va << " " << vb;
      if (!std::isnan(expected)) {
        EXPECT_EQ(std::signbit(got), std::signbit(expected)) << info.name << " " << va << " " << vb;
      }
      worst = std::max(worst, ulps);
    }
    RecordProperty("worst_ulps", std::to_string(worst));
  }
};

TEST_P(BinaryFunctionTest, HasTheSpecialValuesOfTheStandardLibrary) {
  const std::vector<float> values = {0.0f,        -0.0f,  1,    -1,    0.5f,  -0.5f,
                                     2,           3,      -3,   -7.5f, 1e38f, 1e-30f,
                                     16777217.0f, -1e30f, kInf, -kInf, kNaN};
  std::vector<float> a, b;
  for (float va : values) {
    for (float vb : values) a.push_back(va), b.push_back(vb);
  }
  Compare(Tensor::Vector<float>(a), Tensor::Vector<float>(b));
}

TEST_P(BinaryFunctionTest, IsAccurate) {
  const Shape shape({100003});
  Compare(Uniform(shape, 5, -4, 4), Uniform(shape, 6, -4, 4));
  Compare(Uniform(shape, 7, 0, 3), Uniform(shape, 8, -90, 90));
  Compare(Uniform(shape, 9, 0.95f, 1.05f), Uniform(shape, 10, -900, 900));
  Tensor whole = Uniform(shape, 11, -20, 20);
  for (float& v : whole.flat<float>()) v = std::round(v);
  Compare(Uniform(shape, 12, -9, 9), whole);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, BinaryFunctionTest,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(ElementwiseOp::kAtan2, ElementwiseOp::kPow,
                                     ElementwiseOp::kXlogy, ElementwiseOp::kXlog1py)),
    [](const auto& i) {
      return std::string(hwy::TargetName(std::get<0>(i.param).bit)) + "_" +
             FindElementwise(std::get<1>(i.param))->name;
    });

TEST(VectorAddN, AddsInOrder) {
  const Tensor a = Uniform(Shape({3, 50}), 1), b = Uniform(Shape({3, 50}), 2),
               c = Uniform(Shape({3, 50}), 3);
  const auto y = RunFactory(VectorAddN, MakeNode("AddN"), {a, b, c}, {a.shape()});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < 150; ++i) {
    EXPECT_EQ((*y)[0].data<float>()[i],
              a.data<float>()[i] + b.data<float>()[i] + c.data<float>()[i]);
  }
}

}  // namespace
}  // namespace tenon
