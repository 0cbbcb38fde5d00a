#include "kernels/linalg/loops/elimination.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "hwy/aligned_allocator.h"
#include "kernels/linalg/loops/numbers.h"
#include "kernels/matmul/dense_product_simd.h"

namespace tenon {
namespace {

// Rows or columns that plain loops eliminate; more are halved, and halves meet in a product.
constexpr int64_t kFew = 8;

// Rows of a triangular product that are computed together.
constexpr int64_t kStrip = 48;

// A part of a matrix.
template <typename S>
struct Part {
  S* first = nullptr;
  int64_t stride = 0;  // elements from row to row
  int64_t rows = 0, cols = 0;

  S* row(int64_t i) const { return first + i * stride; }
  S& at(int64_t i, int64_t j) const { return row(i)[j]; }
  operator Part<const S>() const requires(!std::is_const_v<S>) {
    return {first, stride, rows, cols};
  }
  Part part(int64_t i, int64_t j, int64_t r, int64_t c) const { return {row(i) + j, stride, r, c}; }
};
template <typename S>
Part<S> WholeOf(Matrix<S>& m) {
  return {m.data(), m.cols(), m.rows(), m.cols()};
}
template <typename S>
Part<const S> WholeOf(const Matrix<S>& m) {
  return {m.data(), m.cols(), m.rows(), m.cols()};
}

// Half of the rows, whole groups of kFew.
int64_t HalfOf(int64_t n) { return (n / 2 + kFew - 1) / kFew * kFew; }

template <typename S>
class Elimination {
 public:
  using Real = RealOf<S>;

  void SolveLower(Part<const S> l, Diagonal diagonal, Part<S> b) {
    if (l.rows > kFew) {
      const int64_t n = HalfOf(l.rows), rest = l.rows - n;
      const Part<S> above = b.part(0, 0, n, b.cols), below = b.part(n, 0, rest, b.cols);
      SolveLower(l.part(0, 0, n, n), diagonal, above);
      SubtractProduct(l.part(n, 0, rest, n), above, below);
      SolveLower(l.part(n, n, rest, rest), diagonal, below);
      return;
    }
    for (int64_t i = 0; i < l.rows; ++i) {
      for (int64_t k = 0; k < i; ++k) SubtractRow(l.at(i, k), b.row(k), b.cols, b.row(i));
      if (diagonal == Diagonal::kGiven) DivideRow(l.at(i, i), b.cols, b.row(i));
    }
  }

  void SolveUpper(Part<const S> u, Part<S> b) {
    if (u.rows > kFew) {
      const int64_t n = HalfOf(u.rows), rest = u.rows - n;
      const Part<S> above = b.part(0, 0, n, b.cols), below = b.part(n, 0, rest, b.cols);
      SolveUpper(u.part(n, n, rest, rest), below);
      SubtractProduct(u.part(0, n, n, rest), below, above);
      SolveUpper(u.part(0, 0, n, n), above);
      return;
    }
    for (int64_t i = u.rows - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < u.rows; ++k) SubtractRow(u.at(i, k), b.row(k), b.cols, b.row(i));
      DivideRow(u.at(i, i), b.cols, b.row(i));
    }
  }

  // Swaps row k with row pivots[k], in this order, of columns that it makes triangular.
  void FactorLu(Part<S> a, int64_t* pivots) {
    if (a.cols <= kFew) return FactorColumns(a, pivots);
    const int64_t n = HalfOf(a.cols), rest = a.cols - n;
    const Part<S> right = a.part(0, n, a.rows, rest);
    FactorLu(a.part(0, 0, a.rows, n), pivots);
    SwapRows(right, pivots, n);
    const Part<S> top = right.part(0, 0, n, rest);
    SolveLower(a.part(0, 0, n, n), Diagonal::kOnes, top);
    const Part<S> below = a.part(n, 0, a.rows - n, n), corner = right.part(n, 0, a.rows - n, rest);
    SubtractProduct(below, top, corner);
    FactorLu(corner, pivots + n);
    SwapRows(below, pivots + n, rest);
    for (int64_t k = n; k < a.cols; ++k) pivots[k] += n;
  }

  // The products of two parts are not computed where one of the matrices is 0.
  Matrix<S> LowerProduct(Part<const S> upper, Part<const S> lower) {
    const int64_t n = upper.rows;
    Matrix<S> out = Matrix<S>::Zero(n, n);
    for (int64_t i = 0; i < n; i += kStrip) {
      const int64_t rows = std::min(kStrip, n - i), end = i + rows;
      SubtractProduct(upper.part(i, i, rows, n - i), lower.part(i, 0, n - i, end),
                      WholeOf(out).part(i, 0, rows, end));
    }
    for (int64_t i = 0; i < n; ++i) {
      S* const row = &out(i, 0);
      std::transform(row, row + i + 1, row, [](S v) { return -v; });
      std::fill(row + i + 1, row + n, S(0));
    }
    return out;
  }

  bool FactorCholesky(Part<S> a) {
    if (a.rows <= kFew) return FactorSmall(a);
    const int64_t n = HalfOf(a.rows), rest = a.rows - n;
    const Part<S> top = a.part(0, 0, n, n), below = a.part(n, 0, rest, n);
    if (!FactorCholesky(top)) return false;
    // The adjoint of the factor's part below is L^-1 times that of the matrix.
    std::vector<S> storage(static_cast<size_t>(n * rest));
    const Part<S> adjoint{storage.data(), rest, n, rest};
    for (int64_t i = 0; i < rest; ++i) {
      for (int64_t k = 0; k < n; ++k) adjoint.at(k, i) = Conjugate(below.at(i, k));
    }
    SolveLower(top, Diagonal::kGiven, adjoint);
    for (int64_t i = 0; i < rest; ++i) {
      for (int64_t k = 0; k < n; ++k) below.at(i, k) = Conjugate(adjoint.at(k, i));
    }
    for (int64_t i = 0; i < rest; i += kStrip) {
      const int64_t rows = std::min(kStrip, rest - i);
      SubtractProduct(below.part(i, 0, rows, n), adjoint.part(0, 0, n, i + rows),
                      a.part(n + i, n, rows, i + rows));
    }
    return FactorCholesky(a.part(n, n, rest, rest));
  }

 private:
  static void SubtractRow(S factor, const S* __restrict from, int64_t n, S* __restrict to) {
    for (int64_t j = 0; j < n; ++j) to[j] -= Times(factor, from[j]);
  }
  static void DivideRow(S divisor, int64_t n, S* row) {
    if constexpr (kIsComplex<S>) {
      const S inverse = S(1) / divisor;
      if (IsFinite(inverse)) {
        for (int64_t j = 0; j < n; ++j) row[j] = Times(row[j], inverse);
        return;
      }
    }
    for (int64_t j = 0; j < n; ++j) row[j] /= divisor;
  }

  // Sizes that are compared to find a pivot; squares, for they take less time.
  static Real SizeOf(S v) {
    if constexpr (kIsComplex<S>) {
      return v.real() * v.real() + v.imag() * v.imag();
    } else {
      return std::abs(v);
    }
  }
  static int64_t PivotOf(Part<S> a, int64_t k) {
    int64_t pivot = k;
    Real largest = 0;
    for (int64_t i = k; i < a.rows; ++i) {
      if (const Real size = SizeOf(a.at(i, k)); size > largest) {
        largest = size;
        pivot = i;
      }
    }
    if constexpr (kIsComplex<S>) {
      if (largest > Real(1e-250) && largest < Real(1e300)) return pivot;
      largest = 0;  // squares may be 0 or infinite
      for (int64_t i = k; i < a.rows; ++i) {
        if (const Real size = std::abs(a.at(i, k)); size > largest) {
          largest = size;
          pivot = i;
        }
      }
    }
    return pivot;
  }

  // Few columns.
  static void FactorColumns(Part<S> a, int64_t* pivots) {
    for (int64_t k = 0; k < a.cols; ++k) {
      pivots[k] = PivotOf(a, k);
      std::swap_ranges(a.row(k), a.row(k) + a.cols, a.row(pivots[k]));
      const S* const top = a.row(k);
      const S pivot = top[k];
      if (pivot == S(0)) continue;
      S inverse = S(0);  // of a complex number
      if constexpr (kIsComplex<S>) {
        inverse = S(1) / pivot;
        if (!IsFinite(inverse)) inverse = S(0);
      }
      for (int64_t i = k + 1; i < a.rows; ++i) {
        S* const row = a.row(i);
        row[k] = inverse == S(0) ? row[k] / pivot : Times(row[k], inverse);
        for (int64_t j = k + 1; j < a.cols; ++j) row[j] -= Times(row[k], top[j]);
      }
    }
  }

  static void SwapRows(Part<S> a, const int64_t* pivots, int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
      if (pivots[k] == k) continue;
      std::swap_ranges(a.row(k), a.row(k) + a.cols, a.row(pivots[k]));
    }
  }

  static bool FactorSmall(Part<S> a) {
    for (int64_t k = 0; k < a.rows; ++k) {
      Real square = std::real(a.at(k, k));
      for (int64_t j = 0; j < k; ++j) square -= std::norm(a.at(k, j));
      if (square <= 0) return false;
      const Real root = std::sqrt(square);
      a.at(k, k) = S(root);
      for (int64_t i = k + 1; i < a.rows; ++i) {
        S sum = a.at(i, k);
        for (int64_t j = 0; j < k; ++j) sum -= Times(a.at(i, j), Conjugate(a.at(k, j)));
        a.at(i, k) = sum / root;
      }
    }
    return true;
  }

  // out -= a b. Complex numbers are pairs of reals: a row of a times the rows of b, each followed
  // by itself times i.
  void SubtractProduct(Part<const S> a, Part<const S> b, Part<S> out) {
    constexpr int64_t kTerms = 128, kParts = sizeof(S) / sizeof(Real);
    if (out.rows == 0 || out.cols == 0) return;
    for (int64_t k = 0; k < a.cols; k += kTerms) {
      const int64_t terms = std::min(kTerms, a.cols - k);
      left_.resize(static_cast<size_t>(a.rows * terms));
      for (int64_t i = 0; i < a.rows; ++i) {
        std::transform(a.row(i) + k, a.row(i) + k + terms, left_.data() + i * terms,
                       [](S v) { return -v; });
      }
      const S* right = b.row(k);
      int64_t right_stride = b.stride;
      if constexpr (kIsComplex<S>) {
        right_.resize(static_cast<size_t>(2 * terms * b.cols));
        for (int64_t i = 0; i < terms; ++i) {
          S* const to = right_.data() + 2 * i * b.cols;
          std::copy_n(b.row(k + i), b.cols, to);
          std::transform(to, to + b.cols, to + b.cols,
                         [](S v) { return S(-std::imag(v), std::real(v)); });
        }
        right = right_.data();
        right_stride = b.cols;
      }
      const auto unsigned_of = [](int64_t n) { return static_cast<size_t>(n); };
      if (panel_ == nullptr) {
        panel_ = hwy::AllocateAligned<Real>(unsigned_of(kTerms * kParts) * loops_.columns);
      }
      loops_.multiply({.a = reinterpret_cast<const Real*>(left_.data()),
                       .a_row = unsigned_of(terms * kParts),
                       .b = reinterpret_cast<const Real*>(right),
                       .b_row = unsigned_of(right_stride * kParts),
                       .rows = unsigned_of(out.rows),
                       .columns = unsigned_of(out.cols * kParts),
                       .terms = unsigned_of(terms * kParts),
                       .add = true,
                       .out = reinterpret_cast<Real*>(out.first),
                       .out_row = unsigned_of(out.stride * kParts),
                       .panel = panel_.get()});
    }
  }

  const DenseLoops<Real> loops_ = FindDenseLoops<Real>();
  std::vector<S> left_, right_;
  hwy::AlignedFreeUniquePtr<Real[]> panel_;
};

}  // namespace

template <typename S>
void SolveLower(const Matrix<S>& l, Diagonal diagonal, Matrix<S>& b) {
  Elimination<S>().SolveLower(WholeOf(l), diagonal, WholeOf(b));
}

template <typename S>
void SolveUpper(const Matrix<S>& u, Matrix<S>& b) {
  Elimination<S>().SolveUpper(WholeOf(u), WholeOf(b));
}

template <typename S>
LuFactors<S> FactorLu(Matrix<S> a) {
  LuFactors<S> lu{std::move(a), {}};
  const int64_t n = lu.factors.rows();
  std::vector<int64_t> pivots(static_cast<size_t>(n));
  Elimination<S>().FactorLu(WholeOf(lu.factors), pivots.data());
  lu.rows.resize(pivots.size());
  std::iota(lu.rows.begin(), lu.rows.end(), int64_t{0});
  for (size_t k = 0; k < pivots.size(); ++k) {
    const auto pivot = static_cast<size_t>(pivots[k]);
    if (pivot == k) continue;
    std::swap(lu.rows[k], lu.rows[pivot]);
    lu.odd = !lu.odd;
  }
  return lu;
}

template <typename S>
Matrix<S> Solve(const LuFactors<S>& lu, const Matrix<S>& b) {
  Matrix<S> x(b.rows(), b.cols());
  for (int64_t i = 0; i < b.rows(); ++i) {
    std::copy_n(b.data() + lu.rows[static_cast<size_t>(i)] * b.cols(), b.cols(),
                x.data() + i * b.cols());
  }
  SolveLower(lu.factors, Diagonal::kOnes, x);
  SolveUpper(lu.factors, x);
  return x;
}

template <typename S>
Matrix<S> Inverse(const LuFactors<S>& lu) {
  const int64_t n = lu.factors.rows();
  Matrix<S> x = Matrix<S>::Zero(n, n);
  for (int64_t i = 0; i < n; ++i) x(i, lu.rows[static_cast<size_t>(i)]) = S(1);
  SolveLower(lu.factors, Diagonal::kOnes, x);
  SolveUpper(lu.factors, x);
  return x;
}

template <typename S>
Matrix<S> LowerProduct(const Matrix<S>& upper, const Matrix<S>& lower) {
  return Elimination<S>().LowerProduct(WholeOf(upper), WholeOf(lower));
}

template <typename S>
bool FactorCholesky(Matrix<S>& a) {
  return Elimination<S>().FactorCholesky(WholeOf(a));
}

template void SolveLower(const Matrix<float>&, Diagonal, Matrix<float>&);
template void SolveUpper(const Matrix<float>&, Matrix<float>&);
template LuFactors<float> FactorLu(Matrix<float>);
template Matrix<float> Solve(const LuFactors<float>&, const Matrix<float>&);
template bool FactorCholesky(Matrix<float>&);
template Matrix<float> Inverse(const LuFactors<float>&);
template Matrix<float> LowerProduct(const Matrix<float>&, const Matrix<float>&);
template void SolveLower(const Matrix<double>&, Diagonal, Matrix<double>&);
template void SolveUpper(const Matrix<double>&, Matrix<double>&);
template LuFactors<double> FactorLu(Matrix<double>);
template Matrix<double> Solve(const LuFactors<double>&, const Matrix<double>&);
template bool FactorCholesky(Matrix<double>&);
template Matrix<double> Inverse(const LuFactors<double>&);
template Matrix<double> LowerProduct(const Matrix<double>&, const Matrix<double>&);
template void SolveLower(const Matrix<complex128>&, Diagonal, Matrix<complex128>&);
template void SolveUpper(const Matrix<complex128>&, Matrix<complex128>&);
template LuFactors<complex128> FactorLu(Matrix<complex128>);
template Matrix<complex128> Solve(const LuFactors<complex128>&, const Matrix<complex128>&);
template bool FactorCholesky(Matrix<complex128>&);
template Matrix<complex128> Inverse(const LuFactors<complex128>&);
template Matrix<complex128> LowerProduct(const Matrix<complex128>&, const Matrix<complex128>&);

}  // namespace tenon
