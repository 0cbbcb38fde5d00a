// Householder reflections and the forms of matrices that they make, against plain products.
#include "kernels/linalg/loops/reflections.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;
using Wide = std::complex<double>;

struct Sizes {
  int64_t rows, cols;
};
void PrintTo(const Sizes& s, std::ostream* out) { *out << s.rows << "x" << s.cols; }

class ReflectionsOf : public TargetTest<Sizes> {};

template <typename S>
S Number(std::mt19937& rng) {
  std::uniform_real_distribution<RealOf<S>> value(-1, 1);
  if constexpr (kIsComplex<S>) {
    const auto real = value(rng);
    return {real, value(rng)};
  } else {
    return value(rng);
  }
}

enum class Kind { kAny, kZeroColumns, kUpper, kZero };
constexpr Kind kKinds[] = {Kind::kAny, Kind::kZeroColumns, Kind::kUpper, Kind::kZero};

// Times `scale`.
template <typename S>
ColumnMatrix<S> RandomMatrix(Sizes size, Kind kind, double scale) {
  std::mt19937 rng(static_cast<unsigned>(size.rows * 100 + size.cols));
  ColumnMatrix<S> m(size.rows, size.cols);
  for (int64_t j = 0; j < size.cols; ++j) {
    for (int64_t i = 0; i < size.rows; ++i) {
      const S number = Number<S>(rng) * static_cast<RealOf<S>>(scale);
      const bool zero = kind == Kind::kZero || (kind == Kind::kZeroColumns && j % 3 == 0) ||
                        (kind == Kind::kUpper && i > j);
      m.at(i, j) = zero ? S(0) : number;
    }
  }
  return m;
}

using Numbers = std::vector<Wide>;

template <typename S>
Numbers Copy(const ColumnMatrix<S>& m) {
  Numbers out;
  for (int64_t j = 0; j < m.cols(); ++j) out.insert(out.end(), m.column(j), m.column(j) + m.rows());
  return out;
}

// q m, by the definition of the reflections.
template <typename S>
ColumnMatrix<Wide> Product(const Reflections<S>& q, const ColumnMatrix<Wide>& m) {
  ColumnMatrix<Wide> out(m.rows(), m.cols());
  for (int64_t j = 0; j < m.cols(); ++j) {
    Wide* const to = out.column(j);
    std::copy_n(m.column(j), m.rows(), to);
    for (int64_t k = q.count() - 1; k >= 0; --k) {
      Wide sum = 0;
      for (int64_t i = 0; i < m.rows(); ++i) sum += std::conj(Wide(q.v(k)[i])) * to[i];
      for (int64_t i = 0; i < m.rows(); ++i) to[i] -= Wide(q.factor(k)) * sum * Wide(q.v(k)[i]);
    }
  }
  return out;
}

ColumnMatrix<Wide> Adjoint(const ColumnMatrix<Wide>& m) {
  ColumnMatrix<Wide> out(m.cols(), m.rows());
  for (int64_t j = 0; j < m.cols(); ++j) {
    for (int64_t i = 0; i < m.rows(); ++i) out.at(j, i) = std::conj(m.at(i, j));
  }
  return out;
}

template <typename S>
double BoundOf(const ColumnMatrix<S>& m, double scale) {
  return 8 * std::numeric_limits<RealOf<S>>::epsilon() * scale *
         static_cast<double>(m.rows() + m.cols());
}

void ExpectClose(const Numbers& want, const Numbers& got, double bound, const std::string& what) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_LE(std::abs(want[i] - got[i]), bound) << what << ", element " << i;
  }
}

template <typename S>
void ExpectOrthonormal(const Reflections<S>& q, int64_t rows) {
  ColumnMatrix<S> applied(rows, rows), alone(rows, rows);
  applied.SetIdentity();
  alone.SetIdentity();
  ColumnMatrix<Wide> identity(rows, rows);
  identity.SetIdentity();
  q.Apply(applied);
  q.Apply(alone, /*identity=*/true);
  const double bound = BoundOf(applied, 1);
  ExpectClose(Copy(Product(q, identity)), Copy(applied), bound, "Q");
  ExpectClose(Copy(applied), Copy(alone), bound, "Q of the identity");
  q.ApplyAdjoint(0, q.count(), applied, 0, rows);
  ExpectClose(Copy(identity), Copy(applied), bound, "Q^H Q");
}

template <typename S>
void ExpectForms(Sizes size, Kind kind, double scale) {
  const ColumnMatrix<S> a = RandomMatrix<S>(size, kind, scale);
  const double bound = BoundOf(a, scale);
  {
    ColumnMatrix<S> m = RandomMatrix<S>(size, kind, scale);
    const Reflections<S> q = MakeTriangular(m);
    ExpectOrthonormal(q, size.rows);
    ColumnMatrix<Wide> r(size.rows, size.cols);
    for (int64_t j = 0; j < size.cols; ++j) {
      for (int64_t i = 0; i <= std::min(j, size.rows - 1); ++i) r.at(i, j) = m.at(i, j);
      if (j >= size.rows) continue;
      EXPECT_EQ(std::imag(m.at(j, j)), 0) << j;
    }
    ExpectClose(Copy(a), Copy(Product(q, r)), bound, "triangular");
  }
  if (size.rows >= size.cols) {
    ColumnMatrix<S> m = RandomMatrix<S>(size, kind, scale);
    const BidiagonalForm<S> form = MakeBidiagonal(m);
    ASSERT_EQ(form.diagonal.size(), static_cast<size_t>(size.cols));
    ExpectOrthonormal(form.u, size.rows);
    ExpectOrthonormal(form.v, size.cols);
    ColumnMatrix<Wide> b(size.rows, size.cols);
    for (int64_t j = 0; j < size.cols; ++j) {
      b.at(j, j) = form.diagonal[static_cast<size_t>(j)];
      if (j > 0) b.at(j - 1, j) = form.above[static_cast<size_t>(j - 1)];
    }
    const auto product = Adjoint(Product(form.v, Adjoint(Product(form.u, b))));
    ExpectClose(Copy(a), Copy(product), bound, "bidiagonal");
  }
  if (size.rows != size.cols) return;
  {
    ColumnMatrix<S> m = RandomMatrix<S>(size, kind, scale);
    const Reflections<S> q = MakeHessenberg(m);
    ExpectOrthonormal(q, size.rows);
    ColumnMatrix<Wide> h(size.rows, size.cols);
    for (int64_t j = 0; j < size.cols; ++j) {
      for (int64_t i = 0; i < size.rows; ++i) {
        h.at(i, j) = m.at(i, j);
        if (i <= j + 1) continue;
        EXPECT_EQ(m.at(i, j), S(0));
      }
    }
    ExpectClose(Copy(a), Copy(Adjoint(Product(q, Adjoint(Product(q, h))))), bound, "Hessenberg");
  }
  {
    ColumnMatrix<S> m = RandomMatrix<S>(size, kind, scale);
    ColumnMatrix<Wide> hermitian(size.rows, size.cols), t(size.rows, size.cols);
    for (int64_t j = 0; j < size.cols; ++j) {
      m.at(j, j) = S(std::real(m.at(j, j)));
      for (int64_t i = j; i < size.rows; ++i) {
        hermitian.at(j, i) = std::conj(Wide(m.at(i, j)));
        hermitian.at(i, j) = m.at(i, j);
      }
    }
    const TridiagonalForm<S> form = MakeTridiagonal(m);
    ExpectOrthonormal(form.q, size.rows);
    for (int64_t j = 0; j < size.cols; ++j) {
      t.at(j, j) = form.diagonal[static_cast<size_t>(j)];
      if (j > 0) t.at(j - 1, j) = t.at(j, j - 1) = form.beside[static_cast<size_t>(j - 1)];
    }
    ExpectClose(Copy(hermitian), Copy(Adjoint(Product(form.q, Adjoint(Product(form.q, t))))), bound,
                "tridiagonal");
  }
}

TEST_P(ReflectionsOf, GiveMatricesTheirForms) {
  for (Kind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    for (double scale : {1.0, 1e12, 1e-12}) {
      SCOPED_TRACE(scale);
      ExpectForms<float>(GetCase(), kind, scale);
      ExpectForms<double>(GetCase(), kind, scale);
      ExpectForms<complex128>(GetCase(), kind, scale);
    }
    ExpectForms<double>(GetCase(), kind, 1e140);
    ExpectForms<complex128>(GetCase(), kind, 1e-140);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Sizes, ReflectionsOf,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(Sizes{0, 0}, Sizes{1, 1}, Sizes{2, 2}, Sizes{3, 3},
                                     Sizes{5, 2}, Sizes{2, 5}, Sizes{16, 16}, Sizes{17, 17},
                                     Sizes{33, 20}, Sizes{20, 33}, Sizes{45, 45})));

// The element that remains is real and negative if the first one was not; nothing is done without a
// reason.
TEST(Reflection, HasTheSignsOfEigen) {
  std::vector<double> x = {3, 4, 0};
  ReflectionOf<double> made = MakeReflection(x.data(), 3);
  EXPECT_DOUBLE_EQ(made.beta, -5);
  EXPECT_DOUBLE_EQ(made.factor, 1.6);
  EXPECT_DOUBLE_EQ(x[1], 0.5);
  x = {-3, 0, 0};
  made = MakeReflection(x.data(), 3);
  EXPECT_EQ(made.beta, -3);
  EXPECT_EQ(made.factor, 0);
  x = {-3, 0, 4};
  EXPECT_DOUBLE_EQ(MakeReflection(x.data(), 3).beta, 5);
  complex128 one[] = {{0, 2}};
  const ReflectionOf<complex128> turned = MakeReflection(one, 1);
  EXPECT_DOUBLE_EQ(turned.beta, -2);
  EXPECT_LT(std::abs((complex128(1) - turned.factor) * complex128(0, 2) + 2.0), 1e-15);
}

// Rows above a reflection's own keep infinities.
TEST(Reflection, LeavesRowsAboveAlone) {
  const double inf = std::numeric_limits<double>::infinity();
  ColumnMatrix<double> m(5, 3), from(5, 1);
  for (int64_t i = 0; i < 5; ++i) from.at(i, 0) = 1;
  m.at(0, 1) = inf;
  m.at(2, 1) = m.at(3, 2) = 1;
  Reflections<double> q(5, 1, 1);
  q.Make(0, from.column(0));
  q.Apply(m);
  EXPECT_EQ(m.at(0, 1), inf);
  for (int64_t i = 1; i < 5; ++i) EXPECT_TRUE(std::isfinite(m.at(i, 1)));
}

}  // namespace
}  // namespace tenon
