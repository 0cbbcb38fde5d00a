// Vector code for doubles: every elementwise op that has it against the scalar formula, and matrix
// products against plain sums, on each instruction set.
#include <cmath>
#include <complex>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/elementwise/double_simd.h"
#include "kernels/elementwise/elementwise_scalar.h"
#include "kernels/elementwise/unary_binary.h"
#include "kernels/matmul/dense_product.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// In units in the last place: those of the library's functions, and those of what they are part of.
constexpr double kUlps = 8;

// Their formulas add what nearly cancels, so that errors are relative to the operands, too.
bool Cancels(ElementwiseOp op) {
  using E = ElementwiseOp;
  return op == E::kGeluApproximate || op == E::kMish || op == E::kTanhGrad ||
         op == E::kSigmoidGrad || op == E::kEluGrad || op == E::kSeluGrad;
}

void ExpectClose(double got, double expected, double size, ElementwiseOp op, double a, double b) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << got << " of " << a << ", " << b;
    return;
  }
  if (got == expected) return;  // infinities, too
  double allowed = kUlps * kEpsilon * std::max(std::fabs(expected), 1e-300);
  if (Cancels(op)) allowed += kUlps * kEpsilon * size;
  EXPECT_LE(std::fabs(got - expected), allowed)
      << got << " instead of " << expected << " of " << a << ", " << b;
}

std::vector<double> DoubleValues() {
  std::vector<double> values = {0.0,   -0.0,  1,      -1,     0.5,     -0.5, 3,     -3,     6,
                                -6,    6.5,   20,     -20,    -36,     -37,  37,    40,     700,
                                -700,  709,   710,    -740,   -745,    -750, 1e-10, -1e-10, 1e10,
                                -1e10, 1e300, -1e300, 1e-300, -1e-300, kInf, -kInf, kNaN,   1e22};
  std::mt19937 rng(7);
  std::normal_distribution<double> normal(0, 2);
  for (int i = 0; i < 20000; ++i) values.push_back(normal(rng));
  std::uniform_real_distribution<double> exponent(-290, 290), unit(-1, 1);
  for (int i = 0; i < 4000; ++i) values.push_back(unit(rng) * std::pow(10.0, exponent(rng)));
  for (int i = 0; i < 4000; ++i) values.push_back(unit(rng));
  return values;
}

class DoubleElementwise : public TargetTest<ElementwiseInfo> {};

TEST_P(DoubleElementwise, HasTheValuesOfTheScalarFormula) {
  const ElementwiseInfo info = GetCase();
  const std::vector<double> values = DoubleValues();
  const auto n = static_cast<int64_t>(values.size());
  std::vector<double> others = values, got(values.size());
  std::shuffle(others.begin(), others.end(), std::mt19937(3));
  if (info.arity() == 1) {
    FindDoubleUnary(info.op)(values.data(), got.data(), n);
  } else {
    Tile tile;
    tile.cols = n;
    tile.col_stride = {1, 1, 0};
    FindDoubleBinary(info.op)(tile, values.data(), others.data(), got.data());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double a = values[i], b = others[i];
    const double expected = ScalarElementwise<double>(info.op, a, b, 0.0, 0.0);
    const double size =
        info.arity() == 1 ? std::fabs(a) : (1 + std::fabs(a)) * (1 + std::fabs(a)) * std::fabs(b);
    ExpectClose(got[i], expected, size, info.op, a, b);
    if (HasFailure()) return;
  }
}

TEST_P(DoubleElementwise, EveryLengthAndFormGivesTheSameBits) {
  const ElementwiseInfo info = GetCase();
  const std::vector<double> all = DoubleValues();
  const Tensor a = Tensor::Vector<double>({all.begin() + 36, all.begin() + 36 + 5003});
  const Tensor b = Tensor::Vector<double>({all.begin() + 9000, all.begin() + 9000 + 5003});
  const auto run = [&](const Tensor& x, const Tensor& y, const Shape& out, int threads) {
    if (info.arity() == 1) {
      return RunFactory([&](PrepareContext& p) { return VectorUnary(p, info.op); },
                        MakeNode(info.name), {x}, {out}, threads);
    }
    return RunFactory([&](PrepareContext& p) { return VectorBinary(p, info.op); },
                      MakeNode(info.name), {x, y}, {out}, threads);
  };
  const auto part = [](const Tensor& t, const Shape& shape) {
    return Tensor::FromExternal(DType::kDouble, shape, const_cast<void*>(t.raw()), nullptr);
  };
  const auto whole = run(a, b, a.shape(), 1);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto threaded = run(a, b, a.shape(), 2);
  ASSERT_TRUE(threaded.ok()) << threaded.status();
  EXPECT_EQ(0, std::memcmp((*whole)[0].raw(), (*threaded)[0].raw(), a.bytes()));
  for (int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 17}) {
    const auto y = run(part(a, Shape({n})), part(b, Shape({n})), Shape({n}), 1);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(0, std::memcmp((*whole)[0].raw(), (*y)[0].raw(), (*y)[0].bytes())) << n;
  }
  if (info.arity() == 1) return;
  // One operand is repeated along rows or columns: as if it had been copied.
  const auto copied = [](const Tensor& t, int64_t rows, int64_t columns) {
    Tensor out = *Tensor::Allocate(DType::kDouble, Shape({13, 7}));
    for (int64_t i = 0; i < 13 * 7; ++i) {
      out.flat<double>()[static_cast<size_t>(i)] =
          t.data<double>()[(rows == 1 ? 0 : i / 7) * columns + (columns == 1 ? 0 : i % 7)];
    }
    return out;
  };
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 7}, {13, 1}, {1, 1}}) {
    const Tensor small = part(a, Shape({rows, columns})), large = part(b, Shape({13, 7}));
    for (const bool first : {true, false}) {
      const auto broadcast =
          first ? run(small, large, large.shape(), 1) : run(large, small, large.shape(), 1);
      const Tensor as_large = copied(small, rows, columns);
      const auto plain =
          first ? run(as_large, large, large.shape(), 1) : run(large, as_large, large.shape(), 1);
      ASSERT_TRUE(broadcast.ok() && plain.ok());
      EXPECT_EQ(0, std::memcmp((*broadcast)[0].raw(), (*plain)[0].raw(), large.bytes()));
    }
  }
}

std::vector<ElementwiseInfo> DoubleOps() {
  std::vector<ElementwiseInfo> ops;
  for (const ElementwiseInfo& info : ElementwiseTable()) {
    if (FindDoubleUnary(info.op) != nullptr || FindDoubleBinary(info.op) != nullptr) {
      ops.push_back(info);
    }
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(AllOps, DoubleElementwise,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(DoubleOps())),
                         [](const auto& i) {
                           return std::string(hwy::TargetName(std::get<0>(i.param).bit)) + "_" +
                                  std::get<1>(i.param).name;
                         });

class DoubleProducts : public TargetTest<DenseProduct> {};

TEST_P(DoubleProducts, AreSumsOfProducts) {
  DenseProduct p = GetCase();
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> value(-1, 1);
  const auto random = [&](int64_t n) {
    std::vector<double> v(static_cast<size_t>(n));
    for (double& x : v) x = value(rng);
    return v;
  };
  const std::vector<double> a = random(p.batch * p.m * p.k), b = random(p.batch * p.k * p.n);
  std::vector<double> out(static_cast<size_t>(p.batch * p.m * p.n) + 1, 77);
  MultiplyDense(p, a.data(), b.data(), out.data());
  EXPECT_EQ(out.back(), 77);
  for (int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
    const int64_t row = i / p.n, column = i % p.n, matrix = row / p.m;
    long double sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum += static_cast<long double>(a[static_cast<size_t>(row * p.k + k)]) *
             b[static_cast<size_t>((matrix * p.k + k) * p.n + column)];
    }
    // k roundings, independent of each other, of partial sums of about sqrt(k) / 3.
    ASSERT_NEAR(out[static_cast<size_t>(i)], static_cast<double>(sum),
                kEpsilon * static_cast<double>(p.k + 1))
        << i;
  }
  std::vector<double> threaded(out.size(), 77);
  p.threads = 5;
  MultiplyDense(p, a.data(), b.data(), threaded.data());
  EXPECT_EQ(0, std::memcmp(out.data(), threaded.data(), out.size() * sizeof(double)));
}

TEST_P(DoubleProducts, OfIntegersWrapAround) {
  const DenseProduct p = GetCase();
  std::mt19937 rng(5);
  const auto random = [&](int64_t n) {
    std::vector<uint32_t> v(static_cast<size_t>(n));
    for (uint32_t& x : v) x = static_cast<uint32_t>(rng());
    return v;
  };
  const std::vector<uint32_t> a = random(p.batch * p.m * p.k), b = random(p.batch * p.k * p.n);
  std::vector<uint32_t> out(static_cast<size_t>(p.batch * p.m * p.n) + 1, 77);
  MultiplyDense(p, a.data(), b.data(), out.data());
  EXPECT_EQ(out.back(), 77u);
  for (int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
    const int64_t row = i / p.n, column = i % p.n, matrix = row / p.m;
    uint32_t sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum += a[static_cast<size_t>(row * p.k + k)] *
             b[static_cast<size_t>((matrix * p.k + k) * p.n + column)];
    }
    ASSERT_EQ(out[static_cast<size_t>(i)], sum) << i;
  }
}

template <typename T>
void ExpectComplexProduct(DenseProduct p) {
  using Complex = std::complex<T>;
  std::mt19937 rng(5);
  std::uniform_real_distribution<T> value(-1, 1);
  const auto random = [&](int64_t n) {
    std::vector<Complex> v(static_cast<size_t>(n));
    for (Complex& x : v) x = {value(rng), value(rng)};
    return v;
  };
  const std::vector<Complex> a = random(p.batch * p.m * p.k), b = random(p.batch * p.k * p.n);
  std::vector<Complex> out(static_cast<size_t>(p.batch * p.m * p.n) + 1, 77), threaded = out;
  MultiplyDense(p, a.data(), b.data(), out.data());
  EXPECT_EQ(out.back(), Complex(77));
  for (int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
    const int64_t row = i / p.n, column = i % p.n, matrix = row / p.m;
    std::complex<double> sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum += std::complex<double>(a[static_cast<size_t>(row * p.k + k)]) *
             std::complex<double>(b[static_cast<size_t>((matrix * p.k + k) * p.n + column)]);
    }
    ASSERT_LE(std::abs(std::complex<double>(out[static_cast<size_t>(i)]) - sum),
              2 * std::numeric_limits<T>::epsilon() * static_cast<double>(p.k + 1))
        << i;
  }
  p.threads = 5;
  MultiplyDense(p, a.data(), b.data(), threaded.data());
  EXPECT_EQ(0, std::memcmp(out.data(), threaded.data(), out.size() * sizeof(Complex)));
}

TEST_P(DoubleProducts, OfComplexNumbers) {
  ExpectComplexProduct<float>(GetCase());
  ExpectComplexProduct<double>(GetCase());
}

const DenseProduct kProducts[] = {
    {1, 1, 1, 1}, {1, 1, 300, 300}, {1, 300, 1, 7},  {1, 5, 3, 0},     {0, 5, 3, 2},
    {1, 0, 3, 2}, {1, 7, 33, 513},  {3, 13, 17, 31}, {1, 200, 65, 96}, {2, 6, 32, 256},
    {9, 2, 5, 3}, {1, 12, 31, 257}, {1, 64, 64, 64}, {1, 1, 64, 5},    {1, 1, 127, 260},
};
INSTANTIATE_TEST_SUITE_P(Shapes, DoubleProducts,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(kProducts)),
                         [](const auto& i) {
                           const DenseProduct& p = std::get<1>(i.param);
                           return absl::StrCat(hwy::TargetName(std::get<0>(i.param).bit), "_",
                                               p.batch, "x", p.m, "x", p.n, "x", p.k);
                         });

}  // namespace
}  // namespace tenon
