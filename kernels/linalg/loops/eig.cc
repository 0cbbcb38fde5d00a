#include "kernels/linalg/loops/eig.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/numbers.h"
#include "kernels/linalg/loops/reflections.h"
#include "kernels/linalg/loops/schur.h"

namespace tenon {
namespace {

struct Eigenvalues {
  std::vector<complex128> values;
  Matrix<complex128> vectors;
};

// The eigenvectors of a triangular matrix, as columns; the parts of a pair of complex ones are two.
// Each is solved for from its last element on, column by column.
template <typename S>
class TriangularVectors {
 public:
  explicit TriangularVectors(const ColumnMatrix<S>& t) : t_(t), n_(t.rows()), x_(n_, n_) {}

  Matrix<S> Find() {
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < std::min(n_, j + 2); ++i) norm_ += std::abs(t_.at(i, j));
    }
    // Its product with kEpsilon must not be flushed to zero.
    norm_ = std::max(norm_, std::numeric_limits<R>::min() / kEpsilon);
    for (int64_t k = n_ - 1; k >= 0; --k) {
      if constexpr (!kIsComplex<S>) {
        if (IsPair(k)) {
          FindPair(--k);
          continue;
        }
      }
      FindOne(k);
    }
    Matrix<S> rows(n_, n_);
    x_.StoreRows(rows.data());
    return rows;
  }

 private:
  using R = RealOf<S>;
  using C = std::complex<R>;
  static constexpr R kEpsilon = std::numeric_limits<R>::epsilon();

  // Whether rows k - 1 and k have a pair of complex eigenvalues.
  bool IsPair(int64_t k) const { return !kIsComplex<S> && k > 0 && t_.at(k, k - 1) != S(0); }

  // The elements of two rows k and k + 1, given the right sides.
  template <typename T>
  void SolvePair(int64_t k, T value, R least, T& x, T& y) const {
    const R b = std::real(t_.at(k, k + 1)), c = std::real(t_.at(k + 1, k));
    const T a = T(std::real(t_.at(k, k))) - value, d = T(std::real(t_.at(k + 1, k + 1))) - value;
    T determinant = a * d - T(b * c);
    if (determinant == T(0)) determinant = T(least);
    const T first = (x * d - y * b) / determinant;
    y = std::abs(b) > std::abs(d) ? (x - a * first) / b : (y - c * first) / d;
    x = first;
  }

  void FindOne(int64_t k) {
    const S value = t_.at(k, k);
    S* const x = x_.column(k);
    x[k] = S(1);
    SubtractAbove(k, k, S(1), x);
    for (int64_t i = k - 1; i >= 0; --i) {
      const bool pair = IsPair(i);
      if (pair) {
        --i;
        SolvePair(i, value, kEpsilon * norm_, x[i], x[i + 1]);
      } else {
        S difference = t_.at(i, i) - value;
        if (difference == S(0)) difference = S(kEpsilon * norm_);
        x[i] /= difference;
      }
      const R size = std::abs(x[i]);
      if (kEpsilon * size * size > 1) Scale(1 / size, k + 1, x);
      SubtractAbove(i, i, x[i], x);
      if (pair) SubtractAbove(i, i + 1, x[i + 1], x);
    }
  }

  // Rows k and k + 1; the eigenvalue with the positive imaginary part.
  void FindPair(int64_t k) {
    S *const re = x_.column(k), *const im = x_.column(k + 1);
    const R b = std::real(t_.at(k, k + 1)), c = std::real(t_.at(k + 1, k));
    const C value = ValueOfPair(t_, k);
    const C first = std::abs(c) > std::abs(b)
                        ? C(-value.imag(), value.real() - std::real(t_.at(k + 1, k + 1))) / c
                        : C(0, -b) / (std::real(t_.at(k, k)) - value);
    re[k] = first.real();
    im[k] = first.imag();
    im[k + 1] = 1;
    const auto subtract = [&](int64_t row, int64_t column) {
      SubtractAbove(row, column, re[column], re);
      SubtractAbove(row, column, im[column], im);
    };
    subtract(k, k);
    subtract(k, k + 1);
    for (int64_t i = k - 1; i >= 0; --i) {
      const bool pair = IsPair(i);
      C x(re[i], im[i]);
      if (pair) {
        C y = x;
        --i;
        x = C(re[i], im[i]);
        const R least = std::abs(std::real(t_.at(i, i + 1))) +
                        std::abs(std::real(t_.at(i + 1, i))) + std::abs(value.imag());
        SolvePair(i, value, kEpsilon * norm_ * least, x, y);
        re[i + 1] = y.real();
        im[i + 1] = y.imag();
      } else {
        x /= std::real(t_.at(i, i)) - value;
      }
      re[i] = x.real();
      im[i] = x.imag();
      const R size = std::max(std::abs(re[i]), std::abs(im[i]));
      if (kEpsilon * size * size > 1) {
        Scale(1 / size, k + 2, re);
        Scale(1 / size, k + 2, im);
      }
      subtract(i, i);
      if (pair) subtract(i, i + 1);
    }
  }

  // Column `column` times a factor, from the right sides of the rows above `row`.
  void SubtractAbove(int64_t row, int64_t column, S factor, S* __restrict x) const {
    const S* __restrict t = t_.column(column);
    for (int64_t i = 0; i < row; ++i) x[i] -= Times(factor, t[i]);
  }
  static void Scale(R factor, int64_t n, S* x) {
    for (int64_t i = 0; i < n; ++i) x[i] *= factor;
  }

 public:
  // The eigenvalue of rows k and k + 1 whose imaginary part is positive.
  static C ValueOfPair(const ColumnMatrix<S>& t, int64_t k) {
    const R d = std::real(t.at(k + 1, k + 1)), half = R(0.5) * (std::real(t.at(k, k)) - d);
    const R b = std::real(t.at(k, k + 1)), c = std::real(t.at(k + 1, k));
    const R largest = std::max({std::abs(half), std::abs(b), std::abs(c)});
    const R p = half / largest;
    return {d + half, largest * std::sqrt(std::abs(p * p + c / largest * (b / largest)))};
  }

 private:
  const ColumnMatrix<S>& t_;
  const int64_t n_;
  ColumnMatrix<S> x_;
  R norm_ = 0;
};

template <typename S>
Matrix<S> RowsOf(const ColumnMatrix<S>& m) {
  Matrix<S> rows(m.rows(), m.cols());
  m.StoreRows(rows.data());
  return rows;
}

// Makes column j of unit length.
void Normalize(Matrix<complex128>& m, int64_t j) {
  double squares = 0;
  for (int64_t i = 0; i < m.rows(); ++i) squares += std::norm(m(i, j));
  if (squares == 0) return;
  const double length = std::sqrt(squares);
  for (int64_t i = 0; i < m.rows(); ++i) m(i, j) /= length;
}

// Of real matrices: conjugate pairs, the one with the positive imaginary part first.
template <typename S>
Eigenvalues EigenvaluesFrom(const SchurForm<S>& schur, bool vectors) {
  const int64_t n = schur.t.rows();
  Eigenvalues out;
  for (int64_t k = 0; k < n; ++k) {
    if (k + 1 == n || schur.t.at(k + 1, k) == 0) {
      out.values.push_back(schur.t.at(k, k));
      continue;
    }
    const complex128 value = TriangularVectors<S>::ValueOfPair(schur.t, k++);
    out.values.push_back(value);
    out.values.push_back(std::conj(value));
  }
  if (!vectors) return out;
  const Matrix<S> columns = Product(RowsOf(schur.u), TriangularVectors<S>(schur.t).Find());
  out.vectors.resize(n, n);
  for (int64_t j = 0; j < n; ++j) {
    const complex128 value = out.values[static_cast<size_t>(j)];
    const bool real =
        std::abs(value.imag()) <= 2 * std::numeric_limits<S>::epsilon() * std::abs(value.real());
    for (int64_t i = 0; i < n; ++i) {
      out.vectors(i, j) = real || j + 1 == n ? complex128(columns(i, j))
                                             : complex128(columns(i, j), columns(i, j + 1));
    }
    Normalize(out.vectors, j);
    if (real || j + 1 == n) continue;
    for (int64_t i = 0; i < n; ++i) out.vectors(i, j + 1) = std::conj(out.vectors(i, j));
    ++j;
  }
  return out;
}

// Of complex matrices: in the order of their size.
Eigenvalues EigenvaluesFrom(const SchurForm<complex128>& schur, bool vectors) {
  const int64_t n = schur.t.rows();
  Eigenvalues out;
  for (int64_t k = 0; k < n; ++k) out.values.push_back(schur.t.at(k, k));
  if (vectors) {
    out.vectors = Product(RowsOf(schur.u), TriangularVectors<complex128>(schur.t).Find());
    for (int64_t j = 0; j < n; ++j) Normalize(out.vectors, j);
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto at = out.values.begin() + i;
    const auto least = std::min_element(
        at, out.values.end(), [](complex128 a, complex128 b) { return std::abs(a) < std::abs(b); });
    if (least == at) continue;
    std::swap(*at, *least);
    if (vectors) out.vectors.col(i).swap(out.vectors.col(least - out.values.begin()));
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Eig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true);
  const DType dtype = p.input_dtype(0), out = p.output_dtype(0);
  const bool wide = dtype == DType::kDouble || dtype == DType::kComplex128;
  const DType expected = wide ? DType::kComplex128 : DType::kComplex64;
  if (out != expected) {
    return InvalidArgument("Tout must be ", Name(expected), ", but is ", Name(out));
  }
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (in.size() == 0) return absl::OkStatus();
      const double ns = NsOfMatrix(in, 25);
      return ForMatrices(threads, in.count, ns, [&](int64_t b) -> absl::Status {
        const Matrix<S> matrix = LoadMatrix<S>(dtype, run.input(0), in, b);
        std::optional<SchurForm<S>> schur;
        // As in TensorFlow, a single complex number may be anything.
        if (matrix.allFinite() || (kIsComplex<S> && in.rows == 1)) {
          schur = DecomposeSchur(matrix, vectors);
        }
        if (!schur.has_value()) {
          return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
        }
        const Eigenvalues eig = EigenvaluesFrom(*schur, vectors);
        StoreElements(eig.values.data(), in.rows, out, run.output(0), b * in.rows);
        if (vectors) StoreMatrix(eig.vectors, out, run.output(1), b);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
