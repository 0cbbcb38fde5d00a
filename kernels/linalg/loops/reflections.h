// Householder reflections, and the forms that they give to matrices: triangular, bidiagonal,
// tridiagonal, Hessenberg. Signs and phases are those of Eigen's decompositions. S: float, double
// or complex128.
#ifndef TENON_KERNELS_LINALG_LOOPS_REFLECTIONS_H_
#define TENON_KERNELS_LINALG_LOOPS_REFLECTIONS_H_

#include <cstdint>
#include <vector>

#include "kernels/linalg/loops/numbers.h"
#include "kernels/simd/column_loops_simd.h"

namespace tenon {

// Elements a fixed distance apart.
template <typename S>
struct Strided {
  S* first = nullptr;
  int64_t stride = 1;
};

// A matrix of zeros, stored column by column as the loops require.
template <typename S>
class ColumnMatrix {
 public:
  ColumnMatrix(int64_t rows, int64_t cols);
  ColumnMatrix(ColumnMatrix&&) = default;
  ColumnMatrix& operator=(ColumnMatrix&&) = default;
  ColumnMatrix(const ColumnMatrix&) = delete;
  ColumnMatrix& operator=(const ColumnMatrix&) = delete;

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  S* column(int64_t j) { return first_ + j * stride_; }
  const S* column(int64_t j) const { return first_ + j * stride_; }
  S& at(int64_t i, int64_t j) { return column(j)[i]; }
  const S& at(int64_t i, int64_t j) const { return column(j)[i]; }

  // `count` columns from column j on.
  ColumnSpan<S> from(int64_t j, int64_t count);
  ColumnSpan<S> from(int64_t j) { return from(j, cols_ - j); }
  ColumnSpan<const S> from(int64_t j, int64_t count) const;

  void SetZero();
  void SetIdentity();
  // From and to a matrix stored row by row, or, with `adjoint`, its conjugate transpose.
  void LoadRows(const S* rows, bool adjoint = false);
  void StoreRows(S* rows) const;

 private:
  int64_t rows_, cols_, stride_;
  std::vector<S> storage_;
  S* first_;
};

// I - factor v v^H times x is beta, 0, 0, … x becomes v, which begins with 1. factor is 0 if all
// but the first element are as good as 0, and that one is real.
template <typename S>
struct ReflectionOf {
  S factor = S(0);
  RealOf<S> beta = 0;
};
template <typename S>
ReflectionOf<S> MakeReflection(S* x, int64_t n);

// The product of reflections, the k-th of which leaves the first `shift` + k rows alone.
template <typename S>
class Reflections {
 public:
  Reflections(int64_t rows, int64_t count, int64_t shift)
      : v_(rows, count), factors_(static_cast<size_t>(count), S(0)), shift_(shift) {}

  // Of column `from`: the adjoint of reflection k makes it real and 0 below row `shift` + k.
  // Returns the element in that row.
  RealOf<S> Make(int64_t k, const S* from);
  // Of a row, which reflection k makes so from the right.
  RealOf<S> MakeFromRow(int64_t k, Strided<const S> row);

  int64_t count() const { return v_.cols(); }
  const S* v(int64_t k) const { return v_.column(k); }
  S factor(int64_t k) const { return factors_[static_cast<size_t>(k)]; }

  // m = Q m. With `identity`, m begins as the identity, so that fewer columns change.
  void Apply(ColumnMatrix<S>& m, bool identity = false) const;
  // Columns j … end - 1 of m become those of Q^H m, for the reflections `first` … last - 1.
  void ApplyAdjoint(int64_t first, int64_t last, ColumnMatrix<S>& m, int64_t j, int64_t end) const;

 private:
  ColumnMatrix<S> v_;
  std::vector<S> factors_;
  int64_t shift_;
};

// m = Q R; m becomes R, below which there are other numbers.
template <typename S>
Reflections<S> MakeTriangular(ColumnMatrix<S>& m);
// The same for m with its columns in an order in which the diagonal decreases in size: column k is
// order[k] of the given one.
template <typename S>
Reflections<S> MakeTriangular(ColumnMatrix<S>& m, std::vector<int64_t>& order);

// m = Q T Q^H of a Hermitian matrix with a real tridiagonal T; only the lower triangle is read.
template <typename S>
struct TridiagonalForm {
  std::vector<RealOf<S>> diagonal, beside;
  Reflections<S> q;
};
template <typename S>
TridiagonalForm<S> MakeTridiagonal(ColumnMatrix<S>& m);

// m = U B V^H of a matrix that is not wider than high, with a real B: a diagonal and the one above.
template <typename S>
struct BidiagonalForm {
  std::vector<RealOf<S>> diagonal, above;
  Reflections<S> u, v;
};
template <typename S>
BidiagonalForm<S> MakeBidiagonal(ColumnMatrix<S>& m);

// m = Q H Q^H of a square matrix; m becomes H, which has zeros below the diagonal beside the main
// one.
template <typename S>
Reflections<S> MakeHessenberg(ColumnMatrix<S>& m);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_REFLECTIONS_H_
