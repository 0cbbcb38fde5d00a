#include "kernels/linalg/loops/reflections.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/simd/rotations_simd.h"

namespace tenon {
namespace {

// Reflections that are applied to a column while it is in the cache.
constexpr int64_t kReflectionsTogether = 16;

template <typename S>
size_t Unsigned(S v) {
  return static_cast<size_t>(v);
}

template <typename S>
RealOf<S> SquaredSize(const S* x, int64_t n) {
  using R = RealOf<S>;
  R sums[4] = {};  // which do not wait for each other
  const R* const reals = reinterpret_cast<const R*>(x);
  const int64_t count = n * static_cast<int64_t>(sizeof(S) / sizeof(R));
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int64_t k = 0; k < 4; ++k) sums[k] += reals[i + k] * reals[i + k];
  }
  for (; i < count; ++i) sums[0] += reals[i] * reals[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Numbers as the loops require, 0 at first.
template <typename S>
class PaddedVector {
 public:
  explicit PaddedVector(int64_t n) : column_(n, 1) {}
  S* data() { return column_.column(0); }
  S& operator[](int64_t i) { return column_.at(i, 0); }

 private:
  ColumnMatrix<S> column_;
};

// What is still to be added to the columns of a matrix: f[j] x + g[j] y. It is added when a column
// is needed or the next products are computed, so that each column is read and written once.
template <typename S>
class DelayedUpdate {
 public:
  DelayedUpdate(const ColumnLoops<S>& loops, int64_t rows, int64_t cols)
      : x(rows), f(cols), y(rows), g(cols), loops_(loops), nothing_(rows) {}

  // Only of column j.
  void AddTo(ColumnMatrix<S>& m, int64_t j, int64_t first_row) {
    S unused;
    loops_.update({Unsigned(first_row), x.data(), f.data() + j, y.data(), g.data() + j,
                   nothing_.data(), &unused},
                  m.from(j, 1));
  }
  // Of the columns from j on, whose products with z go to products[j] ….
  void AddAndMultiply(ColumnMatrix<S>& m, int64_t j, int64_t first_row, const S* z, S* products) {
    loops_.update(
        {Unsigned(first_row), x.data(), f.data() + j, y.data(), g.data() + j, z, products + j},
        m.from(j));
  }
  // Of the rows and columns from j on of a Hermitian matrix; products = m z.
  void AddAndMultiplyHermitian(ColumnMatrix<S>& m, int64_t j, const S* z, S* products) {
    loops_.update_hermitian({Unsigned(j), x.data(), f.data(), y.data(), g.data(), z, products},
                            m.from(0));
  }

  PaddedVector<S> x, f, y, g;

 private:
  const ColumnLoops<S>& loops_;
  PaddedVector<S> nothing_;
};

}  // namespace

template <typename S>
ColumnMatrix<S>::ColumnMatrix(int64_t rows, int64_t cols) : rows_(rows), cols_(cols) {
  constexpr int64_t kLine = kColumnBytes / sizeof(S);
  // An odd number of cache lines: neighbors in a row then lie in different sets of the cache.
  stride_ = ((rows + kLine - 1) / kLine | 1) * kLine;
  storage_.assign(Unsigned(stride_ * cols + kLine), S(0));
  const auto at = reinterpret_cast<uintptr_t>(storage_.data());
  first_ = storage_.data() + (kColumnBytes - at % kColumnBytes) % kColumnBytes / sizeof(S);
}

template <typename S>
ColumnSpan<S> ColumnMatrix<S>::from(int64_t j, int64_t count) {
  return {column(j), Unsigned(stride_), Unsigned(rows_), Unsigned(count)};
}
template <typename S>
ColumnSpan<const S> ColumnMatrix<S>::from(int64_t j, int64_t count) const {
  return {column(j), Unsigned(stride_), Unsigned(rows_), Unsigned(count)};
}

template <typename S>
void ColumnMatrix<S>::SetZero() {
  std::fill(storage_.begin(), storage_.end(), S(0));
}

template <typename S>
void ColumnMatrix<S>::SetIdentity() {
  SetZero();
  for (int64_t k = 0; k < std::min(rows_, cols_); ++k) at(k, k) = S(1);
}

// In squares, whose cache lines are used whole.
template <typename S>
void ColumnMatrix<S>::LoadRows(const S* rows, bool adjoint) {
  if (adjoint) {
    for (int64_t j = 0; j < cols_; ++j) {
      std::transform(rows + j * rows_, rows + (j + 1) * rows_, column(j), Conjugate<S>);
    }
    return;
  }
  constexpr int64_t kSquare = 16;
  for (int64_t i = 0; i < rows_; i += kSquare) {
    for (int64_t j = 0; j < cols_; j += kSquare) {
      for (int64_t c = j; c < std::min(j + kSquare, cols_); ++c) {
        for (int64_t r = i; r < std::min(i + kSquare, rows_); ++r) at(r, c) = rows[r * cols_ + c];
      }
    }
  }
}
template <typename S>
void ColumnMatrix<S>::StoreRows(S* rows) const {
  constexpr int64_t kSquare = 16;
  for (int64_t i = 0; i < rows_; i += kSquare) {
    for (int64_t j = 0; j < cols_; j += kSquare) {
      for (int64_t r = i; r < std::min(i + kSquare, rows_); ++r) {
        for (int64_t c = j; c < std::min(j + kSquare, cols_); ++c) rows[r * cols_ + c] = at(r, c);
      }
    }
  }
}

template <typename S>
ReflectionOf<S> MakeReflection(S* x, int64_t n) {
  using R = RealOf<S>;
  constexpr R kTiny = std::numeric_limits<R>::min();
  const S first = x[0];
  const R tail = SquaredSize(x + 1, n - 1);
  x[0] = S(1);
  const R real = std::real(first), imaginary = std::imag(first);
  if (tail <= kTiny && imaginary * imaginary <= kTiny) {
    std::fill_n(x + 1, n - 1, S(0));
    return {S(0), real};
  }
  R beta = std::sqrt(real * real + imaginary * imaginary + tail);
  if (real >= 0) beta = -beta;
  const S inverse = S(1) / (first - S(beta));
  for (int64_t k = 1; k < n; ++k) x[k] = Times(x[k], inverse);
  return {Conjugate((S(beta) - first) / beta), beta};
}

template <typename S>
RealOf<S> Reflections<S>::Make(int64_t k, const S* from) {
  const int64_t row = shift_ + k;
  S* const v = v_.column(k);
  std::fill_n(v, row, S(0));
  std::copy(from + row, from + v_.rows(), v + row);
  const ReflectionOf<S> made = MakeReflection(v + row, v_.rows() - row);
  factors_[Unsigned(k)] = Conjugate(made.factor);
  return made.beta;
}

template <typename S>
RealOf<S> Reflections<S>::MakeFromRow(int64_t k, Strided<const S> from) {
  const int64_t row = shift_ + k;
  S* const v = v_.column(k);
  std::fill_n(v, row, S(0));
  for (int64_t i = row; i < v_.rows(); ++i) v[i] = from.first[i * from.stride];
  const ReflectionOf<S> made = MakeReflection(v + row, v_.rows() - row);
  for (int64_t i = row; i < v_.rows(); ++i) v[i] = Conjugate(v[i]);
  factors_[Unsigned(k)] = made.factor;
  return made.beta;
}

template <typename S>
void Reflections<S>::Apply(ColumnMatrix<S>& m, bool identity) const {
  const ColumnLoops<S> loops = FindColumnLoops<S>();
  for (int64_t end = count(); end > 0;) {
    const int64_t begin = (end - 1) / kReflectionsTogether * kReflectionsTogether;
    const auto apply = [&](int64_t last, const ColumnSpan<S>& columns) {
      loops.reflect({v_.from(begin, last - begin), factors_.data() + begin,
                     Unsigned(shift_ + begin), /*backward=*/true},
                    columns);
    };
    if (identity) {
      // Of the identity, reflections of later rows leave these columns alone.
      const int64_t last = std::min(shift_ + end, m.cols());
      for (int64_t j = shift_ + begin; j < last; ++j) apply(j - shift_ + 1, m.from(j, 1));
      apply(end, m.from(last));
    } else {
      apply(end, m.from(0));
    }
    end = begin;
  }
}

template <typename S>
void Reflections<S>::ApplyAdjoint(int64_t first, int64_t last, ColumnMatrix<S>& m, int64_t j,
                                  int64_t end) const {
  const ColumnLoops<S> loops = FindColumnLoops<S>();
  for (int64_t begin = first; begin < last; begin += kReflectionsTogether) {
    const int64_t n = std::min(kReflectionsTogether, last - begin);
    S factors[kReflectionsTogether];
    std::transform(factors_.data() + begin, factors_.data() + begin + n, factors, Conjugate<S>);
    loops.reflect({v_.from(begin, n), factors, Unsigned(shift_ + begin), /*backward=*/false},
                  m.from(j, end - j));
  }
}

template <typename S>
Reflections<S> MakeTriangular(ColumnMatrix<S>& m) {
  const int64_t count = std::min(m.rows(), m.cols());
  Reflections<S> q(m.rows(), count, 0);
  for (int64_t begin = 0; begin < count; begin += kReflectionsTogether) {
    const int64_t end = std::min(begin + kReflectionsTogether, count);
    for (int64_t k = begin; k < end; ++k) {
      m.at(k, k) = S(q.Make(k, m.column(k)));
      q.ApplyAdjoint(k, k + 1, m, k + 1, end);
    }
    q.ApplyAdjoint(begin, end, m, end, m.cols());
  }
  return q;
}

template <typename S>
Reflections<S> MakeTriangular(ColumnMatrix<S>& m, std::vector<int64_t>& order) {
  using R = RealOf<S>;
  const int64_t count = std::min(m.rows(), m.cols());
  order.resize(Unsigned(m.cols()));
  std::iota(order.begin(), order.end(), int64_t{0});
  Reflections<S> q(m.rows(), count, 0);
  // Of the rows that are left, squared; and when they were last computed from the elements, which
  // is necessary when most of them has been subtracted.
  std::vector<R> sizes, computed;
  for (int64_t j = 0; j < m.cols(); ++j) sizes.push_back(SquaredSize(m.column(j), m.rows()));
  computed = sizes;
  for (int64_t k = 0; k < count; ++k) {
    const auto first = sizes.begin() + k;
    const int64_t pivot = std::max_element(first, sizes.end()) - sizes.begin();
    if (pivot != k) {
      std::swap_ranges(m.column(k), m.column(k) + m.rows(), m.column(pivot));
      std::swap(order[Unsigned(k)], order[Unsigned(pivot)]);
      std::swap(sizes[Unsigned(k)], sizes[Unsigned(pivot)]);
      std::swap(computed[Unsigned(k)], computed[Unsigned(pivot)]);
    }
    m.at(k, k) = S(q.Make(k, m.column(k)));
    q.ApplyAdjoint(k, k + 1, m, k + 1, m.cols());
    for (int64_t j = k + 1; j < m.cols(); ++j) {
      R& size = sizes[Unsigned(j)];
      size -= std::norm(m.at(k, j));
      if (size > std::sqrt(std::numeric_limits<R>::epsilon()) * computed[Unsigned(j)]) continue;
      size = computed[Unsigned(j)] = SquaredSize(m.column(j) + k + 1, m.rows() - k - 1);
    }
  }
  return q;
}

template <typename S>
TridiagonalForm<S> MakeTridiagonal(ColumnMatrix<S>& m) {
  using R = RealOf<S>;
  const int64_t n = m.rows(), count = std::max<int64_t>(n - 1, 0);
  TridiagonalForm<S> out{{}, {}, Reflections<S>(n, count, 1)};
  const ColumnLoops<S> loops = FindColumnLoops<S>();
  DelayedUpdate<S> delayed(loops, n, n);
  PaddedVector<S> p(n);
  for (int64_t k = 0; k < n; ++k) {
    delayed.AddTo(m, k, k);
    out.diagonal.push_back(std::real(m.at(k, k)));
    if (k == count) break;
    out.beside.push_back(out.q.Make(k, m.column(k)));
    const S* const v = out.q.v(k);
    const S factor = out.q.factor(k);  // the conjugate of the one that is applied on the left
    delayed.AddAndMultiplyHermitian(m, k + 1, v, p.data());
    // H m H^H = m - v w^H - w v^H with p = factor m v and w = p - (factor p^H v / 2) v.
    S product = S(0);
    for (int64_t i = k + 1; i < n; ++i) {
      p[i] = Times(p[i], factor);
      product += Times(Conjugate(p[i]), v[i]);
    }
    const S part = Times(factor, product) * R(-0.5);
    for (int64_t i = k + 1; i < n; ++i) {
      delayed.x[i] = v[i];
      delayed.y[i] = p[i] + Times(part, v[i]);
      delayed.f[i] = -Conjugate(delayed.y[i]);
      delayed.g[i] = -Conjugate(v[i]);
    }
  }
  return out;
}

template <typename S>
BidiagonalForm<S> MakeBidiagonal(ColumnMatrix<S>& m) {
  const int64_t rows = m.rows(), n = m.cols();
  BidiagonalForm<S> out{
      {}, {}, Reflections<S>(rows, n, 0), Reflections<S>(n, std::max<int64_t>(n - 1, 0), 1)};
  const ColumnLoops<S> loops = FindColumnLoops<S>();
  DelayedUpdate<S> delayed(loops, rows, n);
  PaddedVector<S> products(n);
  for (int64_t k = 0; k < n; ++k) {
    delayed.AddTo(m, k, k);
    out.diagonal.push_back(out.u.Make(k, m.column(k)));
    if (k + 1 == n) break;
    // The left side: each column loses factor * product * v.
    const S* const v = out.u.v(k);
    const S factor = Conjugate(out.u.factor(k));
    delayed.AddAndMultiply(m, k + 1, k, v, products.data());
    for (int64_t j = k + 1; j < n; ++j) {
      delayed.g[j] = -Times(factor, products[j]);
      products[j] = m.at(k, j) + delayed.g[j];  // row k
    }
    out.above.push_back(out.v.MakeFromRow(k, {products.data(), 1}));
    // The right side: the matrix loses x e^H with x = factor_e times itself times e.
    const S* const e = out.v.v(k);
    const S factor_e = out.v.factor(k);
    loops.multiply(m.from(k + 1), Unsigned(k + 1), e + k + 1, delayed.x.data());
    S lost = S(0);
    for (int64_t j = k + 1; j < n; ++j) {
      lost += Times(delayed.g[j], e[j]);
      delayed.f[j] = -Conjugate(e[j]);
    }
    for (int64_t i = k + 1; i < rows; ++i) {
      delayed.x[i] = Times(factor_e, delayed.x[i] + Times(lost, v[i]));
      delayed.y[i] = v[i];
    }
    // Finished rows.
    for (int64_t i = 0; i <= k; ++i) delayed.x[i] = delayed.y[i] = S(0);
  }
  return out;
}

template <typename S>
Reflections<S> MakeHessenberg(ColumnMatrix<S>& m) {
  const int64_t n = m.rows(), count = std::max<int64_t>(n - 1, 0);
  Reflections<S> q(n, count, 1);
  const ColumnLoops<S> loops = FindColumnLoops<S>();
  DelayedUpdate<S> delayed(loops, n, n);
  PaddedVector<S> products(n);
  for (int64_t k = 0; k < n; ++k) {
    delayed.AddTo(m, k, 0);
    if (k == count) break;
    m.at(k + 1, k) = S(q.Make(k, m.column(k)));
    std::fill(m.column(k) + k + 2, m.column(k) + n, S(0));
    const S* const v = q.v(k);
    const S factor = q.factor(k), left = Conjugate(factor);
    delayed.AddAndMultiply(m, k + 1, 0, v, products.data());
    loops.multiply(m.from(k + 1), 0, v + k + 1, delayed.x.data());
    S lost = S(0);
    for (int64_t j = k + 1; j < n; ++j) {
      delayed.g[j] = -Times(left, products[j]);
      lost += Times(delayed.g[j], v[j]);
      delayed.f[j] = -Conjugate(v[j]);
    }
    for (int64_t i = 0; i < n; ++i) {
      delayed.x[i] = Times(factor, delayed.x[i] + Times(lost, v[i]));
      delayed.y[i] = v[i];
    }
  }
  return q;
}

template class ColumnMatrix<float>;
template ReflectionOf<float> MakeReflection(float*, int64_t);
template class Reflections<float>;
template Reflections<float> MakeTriangular(ColumnMatrix<float>&);
template Reflections<float> MakeTriangular(ColumnMatrix<float>&, std::vector<int64_t>&);
template TridiagonalForm<float> MakeTridiagonal(ColumnMatrix<float>&);
template BidiagonalForm<float> MakeBidiagonal(ColumnMatrix<float>&);
template Reflections<float> MakeHessenberg(ColumnMatrix<float>&);
template class ColumnMatrix<double>;
template ReflectionOf<double> MakeReflection(double*, int64_t);
template class Reflections<double>;
template Reflections<double> MakeTriangular(ColumnMatrix<double>&);
template Reflections<double> MakeTriangular(ColumnMatrix<double>&, std::vector<int64_t>&);
template TridiagonalForm<double> MakeTridiagonal(ColumnMatrix<double>&);
template BidiagonalForm<double> MakeBidiagonal(ColumnMatrix<double>&);
template Reflections<double> MakeHessenberg(ColumnMatrix<double>&);
template class ColumnMatrix<complex128>;
template ReflectionOf<complex128> MakeReflection(complex128*, int64_t);
template class Reflections<complex128>;
template Reflections<complex128> MakeTriangular(ColumnMatrix<complex128>&);
template Reflections<complex128> MakeTriangular(ColumnMatrix<complex128>&, std::vector<int64_t>&);
template TridiagonalForm<complex128> MakeTridiagonal(ColumnMatrix<complex128>&);
template BidiagonalForm<complex128> MakeBidiagonal(ColumnMatrix<complex128>&);
template Reflections<complex128> MakeHessenberg(ColumnMatrix<complex128>&);

}  // namespace tenon
