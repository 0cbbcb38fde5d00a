// Decompositions of matrices that are larger than those of the golden values: their factors have
// the matrix as their product, and orthonormal columns.
#include <complex>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "ops/evaluate.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;
using Number = std::complex<double>;

// A matrix of doubles or complex numbers, row by row.
struct Rows {
  int64_t rows = 0, cols = 0;
  std::vector<Number> values;

  Number& at(int64_t i, int64_t j) { return values[static_cast<size_t>(i * cols + j)]; }
  const Number& at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * cols + j)]; }
};

Rows Random(int64_t rows, int64_t cols, bool complex) {
  std::mt19937 rng(static_cast<unsigned>(rows * 100 + cols));
  std::uniform_real_distribution<double> value(-1, 1);
  Rows m{rows, cols, std::vector<Number>(static_cast<size_t>(rows * cols))};
  for (Number& v : m.values) v = {value(rng), complex ? value(rng) : 0};
  return m;
}

Rows Times(const Rows& a, const Rows& b) {
  Rows out{a.rows, b.cols, std::vector<Number>(static_cast<size_t>(a.rows * b.cols))};
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.cols; ++k) {
      for (int64_t j = 0; j < b.cols; ++j) out.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return out;
}

Rows Adjoint(const Rows& a) {
  Rows out{a.cols, a.rows, std::vector<Number>(a.values.size())};
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.cols; ++j) out.at(j, i) = std::conj(a.at(i, j));
  }
  return out;
}

// The first columns, each multiplied by its factor.
Rows Scaled(const Rows& a, const Rows& factors) {
  Rows out{a.rows, factors.cols, std::vector<Number>(static_cast<size_t>(a.rows * factors.cols))};
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < out.cols; ++j) out.at(i, j) = a.at(i, j) * factors.at(0, j);
  }
  return out;
}

Rows FirstColumns(const Rows& a, int64_t count) {
  return Scaled(a, {1, count, std::vector<Number>(static_cast<size_t>(count), 1)});
}

void ExpectClose(const Rows& want, const Rows& got, double bound) {
  ASSERT_EQ(want.values.size(), got.values.size());
  for (size_t i = 0; i < want.values.size(); ++i) {
    ASSERT_LE(std::abs(want.values[i] - got.values[i]), bound) << "element " << i;
  }
}

void ExpectOrthonormal(const Rows& a, double bound) {
  Rows identity{a.cols, a.cols, std::vector<Number>(static_cast<size_t>(a.cols * a.cols))};
  for (int64_t i = 0; i < a.cols; ++i) identity.at(i, i) = 1;
  ExpectClose(identity, Times(Adjoint(a), a), bound);
}

bool IsComplexType(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}
bool IsSingle(DType dtype) { return dtype == DType::kFloat || dtype == DType::kComplex64; }

template <typename F>
void WithType(DType dtype, F&& f) {
  if (dtype == DType::kFloat) return f(float());
  if (dtype == DType::kDouble) return f(double());
  if (dtype == DType::kComplex64) return f(std::complex<float>());
  f(std::complex<double>());
}

Tensor ToTensor(const Rows& m, DType dtype) {
  Tensor t = *Tensor::Allocate(dtype, Shape({m.rows, m.cols}));
  WithType(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < m.values.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        static_cast<T*>(t.raw())[i] = static_cast<T>(m.values[i].real());
      } else {
        static_cast<T*>(t.raw())[i] = static_cast<T>(m.values[i]);
      }
    }
  });
  return t;
}

// A vector becomes one row.
Rows FromTensor(const Tensor& t) {
  const int rank = t.shape().rank();
  Rows m{rank > 1 ? t.shape().dim(0) : 1, t.shape().dim(rank - 1), {}};
  WithType(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = static_cast<const T*>(t.raw());
    for (int64_t i = 0; i < t.num_elements(); ++i) m.values.push_back(Number(from[i]));
  });
  return m;
}

std::vector<Rows> OutputsOf(Node node, const Rows& in, DType dtype) {
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  node.attrs["T"] = AttrValue(dtype);
  const auto outputs = Evaluate(node, {ToTensor(in, dtype)}, services);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<Rows> all;
  if (outputs.ok()) {
    for (const Tensor& t : *outputs) all.push_back(FromTensor(t));
  }
  return all;
}

constexpr DType kTypes[] = {DType::kFloat, DType::kDouble, DType::kComplex64, DType::kComplex128};

double BoundFor(DType dtype) { return IsSingle(dtype) ? 3e-5 : 1e-13; }

TEST(Decomposition, SingularValues) {
  for (DType dtype : kTypes) {
    for (const auto& [rows, cols] : {std::pair{16, 16}, {40, 30}, {20, 50}, {17, 90}, {64, 16}}) {
      for (const bool full : {false, true}) {
        SCOPED_TRACE(testing::Message() << Name(dtype) << " " << rows << "x" << cols << full);
        Rows a = Random(rows, cols, IsComplexType(dtype));
        for (int64_t i = 0; i < rows; ++i) a.at(i, cols - 1) = a.at(i, 0);  // one value is 0
        Node node = MakeNode("Svd");
        node.attrs["compute_uv"] = AttrValue(true);
        node.attrs["full_matrices"] = AttrValue(full);
        const std::vector<Rows> out = OutputsOf(node, a, dtype);
        ASSERT_EQ(out.size(), 3u);
        const Rows &s = out[0], &u = out[1], &v = out[2];
        EXPECT_EQ(u.cols, full ? rows : std::min(rows, cols));
        EXPECT_EQ(v.cols, full ? cols : std::min(rows, cols));
        ExpectOrthonormal(u, BoundFor(dtype));
        ExpectOrthonormal(v, BoundFor(dtype));
        ExpectClose(a, Times(Scaled(u, s), Adjoint(FirstColumns(v, s.cols))), BoundFor(dtype));
        for (int64_t k = 0; k + 1 < s.cols; ++k)
          EXPECT_GE(s.at(0, k).real(), s.at(0, k + 1).real());
      }
    }
  }
}

TEST(Decomposition, SelfAdjointEigenvalues) {
  for (DType dtype : kTypes) {
    for (const int64_t n : {2, 17, 64, 75}) {
      SCOPED_TRACE(testing::Message() << Name(dtype) << " " << n);
      const Rows b = Random(n, n, IsComplexType(dtype));
      Rows a = Adjoint(b);
      for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
      Node node = MakeNode("SelfAdjointEigV2");
      node.attrs["compute_v"] = AttrValue(true);
      Rows given = a;  // only the lower triangle counts, and the real parts on the diagonal
      for (int64_t i = 0; i < n; ++i) {
        if (IsComplexType(dtype)) given.at(i, i) += Number(0, 3);
        for (int64_t j = i + 1; j < n; ++j) given.at(i, j) = 5;
      }
      const std::vector<Rows> out = OutputsOf(node, given, dtype);
      ASSERT_EQ(out.size(), 2u);
      ExpectOrthonormal(out[1], BoundFor(dtype));
      ExpectClose(a, Times(Scaled(out[1], out[0]), Adjoint(out[1])), BoundFor(dtype));
    }
  }
}

enum class Form { kAny, kTriangular, kZero, kNilpotent, kRankOne, kCycle };

Rows Special(Form form, int64_t n, bool complex) {
  Rows a = Random(n, n, complex);
  const Rows any = a;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Number& v = a.at(i, j);
      if (form == Form::kTriangular && j <= i) v = j < i ? 0 : 1 + i / 2;
      if (form == Form::kZero) v = 0;
      if (form == Form::kNilpotent) v = j == i + 1;
      if (form == Form::kRankOne) v = any.at(i, 0) * any.at(0, j);
      if (form == Form::kCycle) v = j == (i + 1) % n;
    }
  }
  return a;
}

// Also of matrices with an eigenvalue twice, and with fewer eigenvectors than rows.
TEST(Decomposition, Eigenvalues) {
  for (DType dtype : kTypes) {
    for (const int64_t n : {1, 2, 3, 4, 17, 64, 75}) {
      for (const Form form : {Form::kAny, Form::kTriangular, Form::kZero, Form::kNilpotent,
                              Form::kRankOne, Form::kCycle}) {
        SCOPED_TRACE(testing::Message()
                     << Name(dtype) << " " << n << " " << static_cast<int>(form));
        const Rows a = Special(form, n, IsComplexType(dtype));
        Node node = MakeNode("Eig");
        node.attrs["compute_v"] = AttrValue(true);
        node.attrs["Tout"] = AttrValue(IsSingle(dtype) ? DType::kComplex64 : DType::kComplex128);
        const std::vector<Rows> out = OutputsOf(node, a, dtype);
        ASSERT_EQ(out.size(), 2u);
        const double bound = BoundFor(dtype) * (form == Form::kAny ? 4 : static_cast<double>(n));
        ExpectClose(Times(a, out[1]), Scaled(out[1], out[0]), bound);
        for (int64_t j = 0; j < n; ++j) {
          double squares = 0;
          for (int64_t i = 0; i < n; ++i) squares += std::norm(out[1].at(i, j));
          EXPECT_NEAR(squares, 1, BoundFor(dtype)) << j;
        }
      }
    }
  }
}

// Eigenvalues with positive real parts, mostly pairs of complex ones.
TEST(Decomposition, SquareRoots) {
  for (const int64_t n : {1, 2, 3, 16, 31}) {
    Rows root = Random(n, n, false);
    for (int64_t i = 0; i < n; ++i) root.at(i, i) += 1 + std::sqrt(static_cast<double>(n));
    const std::vector<Rows> out =
        OutputsOf(MakeNode("MatrixSquareRoot"), Times(root, root), DType::kDouble);
    ASSERT_EQ(out.size(), 1u);
    ExpectClose(root, out[0], 1e-11);
  }
}

TEST(Decomposition, ComplexSquareRoots) {
  for (const int64_t n : {1, 2, 16, 31}) {
    Rows root = Random(n, n, true);
    for (int64_t i = 0; i < n; ++i) root.at(i, i) += 1 + std::sqrt(static_cast<double>(2 * n));
    const std::vector<Rows> out =
        OutputsOf(MakeNode("MatrixSquareRoot"), Times(root, root), DType::kComplex128);
    ASSERT_EQ(out.size(), 1u);
    ExpectClose(root, out[0], 1e-11);
  }
}

// Against 200 terms of the series.
TEST(Decomposition, Exponentials) {
  for (const double scale : {1e-9, 0.01, 1.0, 4.0}) {
    for (const int64_t n : {1, 2, 9}) {
      Rows m = Random(n, n, true);
      for (Number& v : m.values) v *= scale;
      Rows sum{n, n, std::vector<Number>(m.values.size())}, term = sum;
      for (int64_t i = 0; i < n; ++i) sum.at(i, i) = term.at(i, i) = 1;
      double size = 1;
      for (int k = 1; k < 200; ++k) {
        term = Times(term, m);
        for (size_t i = 0; i < term.values.size(); ++i) {
          term.values[i] /= k;
          sum.values[i] += term.values[i];
          size = std::max(size, std::abs(term.values[i]));
        }
      }
      const std::vector<Rows> out = OutputsOf(MakeNode("MatrixExponential"), m, DType::kComplex128);
      ASSERT_EQ(out.size(), 1u);
      ExpectClose(sum, out[0], 1e-13 * size);
    }
  }
}

}  // namespace
}  // namespace tenon
