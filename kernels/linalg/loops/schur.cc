#include "kernels/linalg/loops/schur.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/linalg/loops/numbers.h"

namespace tenon {
namespace {

constexpr int kIterationsPerRealRow = 40, kIterationsPerComplexRow = 30;

// A reflection of three rows or columns, or of two.
template <typename S>
struct Few {
  S factor = 0, y = 0, z = 0;  // the vector is 1, y, z

  template <int n>
  void ApplyToRows(ColumnMatrix<S>& m, int64_t row, int64_t column) const {
    for (int64_t j = column; j < m.cols(); ++j) {
      S* const a = m.column(j) + row;
      S sum = a[0] + y * a[1];
      if constexpr (n == 3) sum += z * a[2];
      sum *= factor;
      a[0] -= sum;
      a[1] -= sum * y;
      if constexpr (n == 3) a[2] -= sum * z;
    }
  }
  template <int n>
  void ApplyToColumns(ColumnMatrix<S>& m, int64_t rows, int64_t column) const {
    S* const __restrict a = m.column(column);
    S* const __restrict b = m.column(column + 1);
    S* const __restrict c = n == 3 ? m.column(column + 2) : nullptr;
    const S one = factor, two = factor * y, three = factor * z, p = y, q = z;
    for (int64_t i = 0; i < rows; ++i) {
      S sum = a[i] + p * b[i];
      if constexpr (n == 3) sum += q * c[i];
      a[i] -= one * sum;
      b[i] -= two * sum;
      if constexpr (n == 3) c[i] -= three * sum;
    }
  }
};

// Francis' iterations with two shifts.
template <typename S>
class RealIterations {
 public:
  RealIterations(ColumnMatrix<S>& t, ColumnMatrix<S>* u) : t_(t), u_(u), n_(t.rows()) {}

  bool Run() {
    S norm = 0;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < std::min(n_, j + 2); ++i) norm += std::abs(t_.at(i, j));
    }
    if (norm == 0) return true;
    tiny_ = std::max(norm * kEpsilon * kEpsilon, std::numeric_limits<S>::min());
    int64_t total = 0;
    int iteration = 0;
    for (int64_t end = n_ - 1; end >= 0;) {
      int64_t begin = end;  // of the rows up to `end` that are not separate from it
      while (begin > 0 && !IsSeparate(begin)) --begin;
      if (begin + 2 <= end) {
        if (++total > kIterationsPerRealRow * n_) return false;
        Step(begin, end, ShiftsFor(end, iteration++));
        continue;
      }
      iteration = 0;
      if (begin + 1 == end) {
        SplitPair(end);
        end -= 2;
      } else {
        t_.at(end, end) += shifted_;
        if (end > 0) t_.at(end, end - 1) = 0;
        --end;
      }
    }
    return true;
  }

 private:
  static constexpr S kEpsilon = std::numeric_limits<S>::epsilon();
  struct Shifts {
    S x, y, product;  // the sum is x + y; product: of the elements beside the diagonal
  };

  bool IsSeparate(int64_t k) const {
    const S size = std::abs(t_.at(k - 1, k - 1)) + std::abs(t_.at(k, k));
    return std::abs(t_.at(k, k - 1)) <= std::max(size * kEpsilon, tiny_);
  }

  // The last two rows are separate: makes them triangular if their eigenvalues are real.
  void SplitPair(int64_t end) {
    const int64_t k = end - 1;
    const S p = S(0.5) * (t_.at(k, k) - t_.at(end, end));
    const S q = p * p + t_.at(end, k) * t_.at(k, end);
    t_.at(end, end) += shifted_;
    t_.at(k, k) += shifted_;
    if (q >= 0) {
      const S x = p >= 0 ? p + std::sqrt(q) : p - std::sqrt(q), y = t_.at(end, k);
      const S r = std::hypot(x, y), c = r == 0 ? S(1) : x / r, s = r == 0 ? S(0) : y / r;
      for (int64_t j = k; j < n_; ++j) {
        S* const a = t_.column(j) + k;
        const S old = a[0];
        a[0] = c * old + s * a[1];
        a[1] = c * a[1] - s * old;
      }
      RotateColumns(t_, end + 1, k, c, s);
      t_.at(end, k) = 0;
      if (u_ != nullptr) RotateColumns(*u_, n_, k, c, s);
    }
    if (end > 1) t_.at(k, k - 1) = 0;
  }
  static void RotateColumns(ColumnMatrix<S>& m, int64_t rows, int64_t k, S c, S s) {
    S* const __restrict a = m.column(k);
    S* const __restrict b = m.column(k + 1);
    for (int64_t i = 0; i < rows; ++i) {
      const S old = a[i];
      a[i] = c * old + s * b[i];
      b[i] = c * b[i] - s * old;
    }
  }

  Shifts ShiftsFor(int64_t end, int iteration) {
    Shifts s = {t_.at(end, end), t_.at(end - 1, end - 1),
                t_.at(end, end - 1) * t_.at(end - 1, end)};
    if (iteration == 10) {  // Wilkinson's, when there is no progress
      Subtract(s.x, end);
      const S size = std::abs(t_.at(end, end - 1)) + std::abs(t_.at(end - 1, end - 2));
      return {S(0.75) * size, S(0.75) * size, S(-0.4375) * size * size};
    }
    if (iteration == 30) {  // MATLAB's
      const S half = (s.y - s.x) / 2;
      S root = half * half + s.product;
      if (root > 0) {
        root = s.y < s.x ? -std::sqrt(root) : std::sqrt(root);
        Subtract(s.x - s.product / (root + half), end);
        return {S(0.964), S(0.964), S(0.964)};
      }
    }
    return s;
  }
  void Subtract(S shift, int64_t end) {
    shifted_ += shift;
    for (int64_t i = 0; i <= end; ++i) t_.at(i, i) -= shift;
  }

  void Step(int64_t begin, int64_t end, const Shifts& shifts) {
    // From the last row on before which the step has next to no effect.
    S v[3] = {};
    int64_t first = end - 2;
    for (;; --first) {
      const S d = t_.at(first, first), next = t_.at(first + 1, first + 1);
      const S r = shifts.x - d, s = shifts.y - d;
      v[0] = (r * s - shifts.product) / t_.at(first + 1, first) + t_.at(first, first + 1);
      v[1] = next - d - r - s;
      v[2] = t_.at(first + 2, first + 1);
      if (first == begin) break;
      const S left = t_.at(first, first - 1) * (std::abs(v[1]) + std::abs(v[2]));
      const S before = std::abs(t_.at(first - 1, first - 1));
      if (std::abs(left) < kEpsilon * (v[0] * (before + std::abs(d) + std::abs(next)))) break;
    }
    for (int64_t k = first; k <= end - 2; ++k) {
      if (k > first) std::copy_n(t_.column(k - 1) + k, 3, v);
      const ReflectionOf<S> made = MakeReflection(v, 3);
      if (made.beta == 0) continue;
      if (k > first) {
        t_.at(k, k - 1) = made.beta;
      } else if (k > begin) {
        t_.at(k, k - 1) = -t_.at(k, k - 1);
      }
      Apply<3>({made.factor, v[1], v[2]}, k, std::min(end, k + 3) + 1);
    }
    std::copy_n(t_.column(end - 2) + end - 1, 2, v);
    const ReflectionOf<S> made = MakeReflection(v, 2);
    if (made.beta != 0) {
      t_.at(end - 1, end - 2) = made.beta;
      Apply<2>({made.factor, v[1]}, end - 1, end + 1);
    }
    for (int64_t i = first + 2; i <= end; ++i) {
      t_.at(i, i - 2) = 0;
      if (i > first + 2) t_.at(i, i - 3) = 0;
    }
  }
  template <int n>
  void Apply(const Few<S>& reflection, int64_t k, int64_t rows) {
    if (reflection.factor == 0) return;
    reflection.template ApplyToRows<n>(t_, k, k);
    reflection.template ApplyToColumns<n>(t_, rows, k);
    if (u_ != nullptr) reflection.template ApplyToColumns<n>(*u_, n_, k);
  }

  ColumnMatrix<S>& t_;
  ColumnMatrix<S>* const u_;
  const int64_t n_;
  S tiny_ = 0, shifted_ = 0;
};

// Iterations with one shift.
class ComplexIterations {
 public:
  ComplexIterations(ColumnMatrix<complex128>& t, ColumnMatrix<complex128>* u)
      : t_(t), u_(u), n_(t.rows()) {}

  bool Run() {
    int64_t total = 0;
    int iteration = 0;
    for (int64_t end = n_ - 1; end > 0;) {
      if (IsSeparate(end)) {
        iteration = 0;
        --end;
        continue;
      }
      if (++total > kIterationsPerComplexRow * n_) return false;
      int64_t begin = end - 1;
      while (begin > 0 && !IsSeparate(begin)) --begin;
      Step(begin, end, ShiftFor(end, ++iteration));
    }
    return true;
  }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

  static double SizeOf(complex128 v) { return std::abs(v.real()) + std::abs(v.imag()); }

  bool IsSeparate(int64_t k) {
    const double size = SizeOf(t_.at(k - 1, k - 1)) + SizeOf(t_.at(k, k));
    if (SizeOf(t_.at(k, k - 1)) > kEpsilon * size) return false;
    t_.at(k, k - 1) = 0;
    return true;
  }

  // The eigenvalue of the last two rows that is nearer to the last element.
  complex128 ShiftFor(int64_t end, int iteration) const {
    if (iteration == 10 || iteration == 20) {  // EISPACK's, when there is no progress
      return std::abs(t_.at(end, end - 1).real()) +
             (end > 1 ? std::abs(t_.at(end - 1, end - 2).real()) : 0);
    }
    complex128 a = t_.at(end - 1, end - 1), b = t_.at(end - 1, end), c = t_.at(end, end - 1),
               d = t_.at(end, end);
    const double size = std::abs(a) + std::abs(b) + std::abs(c) + std::abs(d);
    a /= size;
    b /= size;
    c /= size;
    d /= size;
    const complex128 product = b * c, difference = a - d;
    const complex128 root = std::sqrt(difference * difference + 4.0 * product);
    const complex128 determinant = a * d - product;
    complex128 x = (a + d + root) / 2.0, y = (a + d - root) / 2.0;
    if (SizeOf(x) > SizeOf(y)) {
      y = determinant / x;
    } else if (SizeOf(y) != 0) {
      x = determinant / y;
    }
    return size * (SizeOf(x - d) < SizeOf(y - d) ? x : y);
  }

  // Rows become c x - conj(s) y and s x + c y.
  struct Turn {
    double c = 1;
    complex128 s = 0, r;  // r: what (p, q) becomes
  };
  static Turn TurnOf(complex128 p, complex128 q) {
    if (q == 0.0) {
      const double c = p.real() < 0 ? -1 : 1;
      return {c, 0, c * p};
    }
    if (p == 0.0) return {0, -q / std::abs(q), std::abs(q)};
    const double size = std::abs(p), length = std::hypot(size, std::abs(q));
    const double c = (p.real() < 0 ? -size : size) / length;
    const complex128 phase = p / size;
    const double root = p.real() < 0 ? -length : length;
    return {c, -Times(std::conj(phase), q / root), phase * root};
  }

  void Step(int64_t begin, int64_t end, complex128 shift) {
    for (int64_t k = begin; k < end; ++k) {
      Turn turn;
      if (k == begin) {
        turn = TurnOf(t_.at(k, k) - shift, t_.at(k + 1, k));
      } else {
        turn = TurnOf(t_.at(k, k - 1), t_.at(k + 1, k - 1));
        t_.at(k, k - 1) = turn.r;
        t_.at(k + 1, k - 1) = 0;
      }
      for (int64_t j = k; j < n_; ++j) {
        complex128* const a = t_.column(j) + k;
        const complex128 x = a[0], y = a[1];
        a[0] = turn.c * x - Times(std::conj(turn.s), y);
        a[1] = Times(turn.s, x) + turn.c * y;
      }
      RotateColumns(t_, std::min(k + 2, end) + 1, k, turn);
      if (u_ != nullptr) RotateColumns(*u_, n_, k, turn);
    }
  }
  static void RotateColumns(ColumnMatrix<complex128>& m, int64_t rows, int64_t k,
                            const Turn& turn) {
    double* const __restrict a = reinterpret_cast<double*>(m.column(k));
    double* const __restrict b = reinterpret_cast<double*>(m.column(k + 1));
    const double c = turn.c, p = turn.s.real(), q = turn.s.imag();
    for (int64_t i = 0; i < 2 * rows; i += 2) {
      const double xr = a[i], xi = a[i + 1], yr = b[i], yi = b[i + 1];
      a[i] = c * xr - (p * yr - q * yi);
      a[i + 1] = c * xi - (p * yi + q * yr);
      b[i] = p * xr + q * xi + c * yr;
      b[i + 1] = p * xi - q * xr + c * yi;
    }
  }

  ColumnMatrix<complex128>& t_;
  ColumnMatrix<complex128>* const u_;
  const int64_t n_;
};

}  // namespace

template <typename S>
std::optional<SchurForm<S>> DecomposeSchur(const Matrix<S>& m, bool vectors) {
  using R = RealOf<S>;
  const int64_t n = m.rows();
  SchurForm<S> form{ColumnMatrix<S>(n, n), ColumnMatrix<S>(vectors ? n : 0, vectors ? n : 0)};
  ColumnMatrix<S>* const u = vectors ? &form.u : nullptr;
  if (vectors) form.u.SetIdentity();
  R scale = 1;
  if constexpr (!kIsComplex<S>) {
    scale = m.cwiseAbs().maxCoeff();
    if (scale < std::numeric_limits<R>::min()) return form;
  }
  form.t.LoadRows(kIsComplex<S> ? m.data() : Matrix<S>(m / S(scale)).data());
  const Reflections<S> q = MakeHessenberg(form.t);
  if (vectors) q.Apply(form.u, /*identity=*/true);
  if constexpr (kIsComplex<S>) {
    if (!ComplexIterations(form.t, u).Run()) return std::nullopt;
  } else {
    if (!RealIterations<S>(form.t, u).Run()) return std::nullopt;
    for (int64_t j = 0; j < n; ++j) {
      std::transform(form.t.column(j), form.t.column(j) + n, form.t.column(j),
                     [scale](S v) { return v * scale; });
    }
  }
  return form;
}

template std::optional<SchurForm<float>> DecomposeSchur(const Matrix<float>&, bool);
template std::optional<SchurForm<double>> DecomposeSchur(const Matrix<double>&, bool);
template std::optional<SchurForm<complex128>> DecomposeSchur(const Matrix<complex128>&, bool);

}  // namespace tenon
