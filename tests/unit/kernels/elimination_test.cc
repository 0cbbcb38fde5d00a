// Triangular factors against the matrices that they make up, and solutions against right sides.
#include "kernels/linalg/loops/elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/linalg/loops/numbers.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

class EliminationOf : public TargetTest<int64_t> {};

template <typename S>
Matrix<S> RandomMatrix(int64_t rows, int64_t cols) {
  std::mt19937 rng(static_cast<unsigned>(rows * 100 + cols));
  std::uniform_real_distribution<RealOf<S>> value(-1, 1);
  Matrix<S> m(rows, cols);
  for (int64_t i = 0; i < m.size(); ++i) {
    m.data()[i] = value(rng);
    if constexpr (kIsComplex<S>) m.data()[i] = {m.data()[i].real(), value(rng)};
  }
  return m;
}

// The sum of a(i, k) b(k, j) over the terms with begin <= k < end.
template <typename S>
S Term(const Matrix<S>& a, const Matrix<S>& b, int64_t i, int64_t j, int64_t begin, int64_t end) {
  S sum = S(0);
  for (int64_t k = begin; k < end; ++k) sum += a(i, k) * b(k, j);
  return sum;
}

template <typename S>
void ExpectEliminated(int64_t n, int64_t cols) {
  const double bound = 64 * std::numeric_limits<RealOf<S>>::epsilon() * static_cast<double>(n + 1);
  Matrix<S> a = RandomMatrix<S>(n, n);
  const LuFactors<S> lu = FactorLu(a);
  ASSERT_EQ(lu.rows.size(), static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const S lower = Term(lu.factors, lu.factors, i, j, 0, std::min(i, j + 1));
      const S product = lower + (i <= j ? lu.factors(i, j) : S(0));
      ASSERT_LE(std::abs(product - a(lu.rows[static_cast<size_t>(i)], j)), bound) << i << " " << j;
      ASSERT_TRUE(i <= j || std::abs(lu.factors(i, j)) <= 1 + bound);
    }
  }

  // A large diagonal keeps numbers small.
  for (int64_t i = 0; i < n; ++i) a(i, i) += S(static_cast<RealOf<S>>(n + 1));
  const Matrix<S> b = RandomMatrix<S>(n, cols);
  Matrix<S> lower = b, ones = b, upper = b, all = Solve(FactorLu(a), b);
  Matrix<S> unit = a / S(static_cast<RealOf<S>>(n + 1));
  SolveLower(a, Diagonal::kGiven, lower);
  SolveLower(unit, Diagonal::kOnes, ones);
  SolveUpper(a, upper);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      ASSERT_LE(std::abs(Term(a, all, i, j, 0, n) - b(i, j)), bound) << i << " " << j;
      ASSERT_LE(std::abs(Term(a, lower, i, j, 0, i + 1) - b(i, j)), bound) << i << " " << j;
      ASSERT_LE(std::abs(Term(a, upper, i, j, i, n) - b(i, j)), bound) << i << " " << j;
      ASSERT_LE(std::abs(Term(unit, ones, i, j, 0, i) + ones(i, j) - b(i, j)), bound);
    }
  }

  const Matrix<S> inverse = Inverse(FactorLu(a));
  Matrix<S> up = a, low = a;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) up(i, j) = low(j, i) = S(0);
  }
  const Matrix<S> product = LowerProduct(up, low);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      ASSERT_LE(std::abs(Term(a, inverse, i, j, 0, n) - S(i == j ? 1 : 0)), bound);
      const S want = j <= i ? Term(up, low, i, j, i, n) : S(0);
      ASSERT_LE(std::abs(product(i, j) - want), bound * static_cast<double>(n * n));
    }
  }

  Matrix<S> positive(n, n), l(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) positive(i, j) = (a(i, j) + Conjugate(a(j, i))) / S(2);
  }
  l = positive;
  ASSERT_TRUE(FactorCholesky(l));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      S sum = S(0);
      for (int64_t k = 0; k <= j; ++k) sum += l(i, k) * Conjugate(l(j, k));
      ASSERT_LE(std::abs(sum - positive(i, j)), bound * static_cast<double>(n)) << i << " " << j;
    }
  }
  if (n == 0) return;
  positive(n - 1, n - 1) = S(-1);
  EXPECT_FALSE(FactorCholesky(positive));
}

TEST_P(EliminationOf, GivesFactorsAndSolutions) {
  for (int64_t cols : {0, 1, 5, 40}) {
    ExpectEliminated<float>(GetCase(), cols);
    ExpectEliminated<double>(GetCase(), cols);
    ExpectEliminated<complex128>(GetCase(), cols);
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, EliminationOf,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(0, 1, 2, 7, 8, 9, 17, 40, 67, 150)));

TEST(Elimination, OfSingularMatrices) {
  Matrix<double> a = Matrix<double>::Zero(3, 3);
  a(0, 2) = a(1, 2) = 1;
  LuFactors<double> lu = FactorLu(a);
  EXPECT_EQ(lu.factors(0, 0), 0);
  EXPECT_EQ(lu.factors(1, 1), 0);
  EXPECT_FALSE(lu.odd);
  a = Matrix<double>::Identity(3, 3).rowwise().reverse();
  lu = FactorLu(a);
  EXPECT_TRUE(lu.odd);
  EXPECT_EQ(lu.rows, (std::vector<int64_t>{2, 1, 0}));
}

// Squares of numbers so large or small cannot be compared.
TEST(Elimination, PivotsOfAnySize) {
  for (double scale : {1e-200, 1e200}) {
    Matrix<complex128> a(2, 2);
    a << complex128(0, scale), complex128(1, 0), complex128(2 * scale, 0), complex128(0, 1);
    EXPECT_EQ(FactorLu(a).rows, (std::vector<int64_t>{1, 0}));
  }
}

}  // namespace
}  // namespace tenon
