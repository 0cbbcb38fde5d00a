#include "kernels/linalg/loops/square_root.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/linalg/loops/numbers.h"
#include "kernels/linalg/loops/reflections.h"
#include "kernels/linalg/loops/schur.h"

namespace tenon {
namespace {

using Square = ColumnMatrix<double>;

// The square root of the 2 x 2 block at k, whose eigenvalues are a pair theta +- i mu.
void RootOfPair(const Square& t, int64_t k, Square& root) {
  const double a = t.at(k, k), b = t.at(k, k + 1), c = t.at(k + 1, k), d = t.at(k + 1, k + 1);
  const double theta = (a + d) / 2, half = (a - d) / 2;
  const double mu = std::sqrt(std::max(-(half * half + b * c), 0.0));
  const double size = std::hypot(theta, mu);
  const double alpha =
      theta > 0 ? std::sqrt((size + theta) / 2) : mu / (2 * std::sqrt((size - theta) / 2));
  root.at(k, k) = alpha + half / (2 * alpha);
  root.at(k, k + 1) = b / (2 * alpha);
  root.at(k + 1, k) = c / (2 * alpha);
  root.at(k + 1, k + 1) = alpha - half / (2 * alpha);
}

// Solves a system of n <= 4 equations; the right side is column n.
void SolveFew(double (*rows)[5], int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(rows[i][k]) > std::abs(rows[pivot][k])) pivot = i;
    }
    std::swap(rows[k], rows[pivot]);
    for (int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = rows[i][k] / rows[k][k];
      for (int64_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  for (int64_t k = 0; k < n; ++k) rows[k][n] /= rows[k][k];
}

// A diagonal block: one row, or two.
struct DiagonalBlock {
  int64_t at, size;
};

// X in R_i X + X R_j = Y, with R's diagonal blocks; X is the root's block in those rows and columns
// and holds Y at first.
void SolveBlock(const DiagonalBlock& i, const DiagonalBlock& j, Square& root) {
  double rows[4][5] = {};
  const int64_t n = i.size * j.size;
  for (int64_t r = 0; r < i.size; ++r) {
    for (int64_t c = 0; c < j.size; ++c) {
      double* const row = rows[r * j.size + c];
      for (int64_t k = 0; k < i.size; ++k) row[k * j.size + c] += root.at(i.at + r, i.at + k);
      for (int64_t k = 0; k < j.size; ++k) row[r * j.size + k] += root.at(j.at + k, j.at + c);
      row[n] = root.at(i.at + r, j.at + c);
    }
  }
  SolveFew(rows, n);
  for (int64_t k = 0; k < n; ++k) root.at(i.at + k / j.size, j.at + k % j.size) = rows[k][n];
}

// n elements of a column, times a factor, from those of another.
template <typename S>
void SubtractColumn(S factor, const S* __restrict from, int64_t n, S* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] -= Times(factor, from[i]);
}

// u root u^H.
template <typename S>
Matrix<S> FromSchur(const ColumnMatrix<S>& u, const ColumnMatrix<S>& root) {
  const int64_t n = u.rows();
  Matrix<S> left(n, n), middle(n, n);
  u.StoreRows(left.data());
  root.StoreRows(middle.data());
  return Product(Product(left, middle), Matrix<S>(left.adjoint()));
}

}  // namespace

std::optional<Matrix<double>> RealSquareRoot(const Matrix<double>& m) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const int64_t n = m.rows();
  const auto schur = DecomposeSchur(m, /*vectors=*/true);
  if (!schur.has_value()) return Matrix<double>::Constant(n, n, kNan);
  const Square& t = schur->t;
  // Where an eigenvalue is as good as 0: the rounding error of a multiple one is the root of
  // epsilon.
  double squares = 0;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) squares += t.at(i, j) * t.at(i, j);
  }
  const double rounding = 32 * std::sqrt(std::numeric_limits<double>::epsilon() * squares);
  std::vector<DiagonalBlock> blocks;
  for (int64_t k = 0; k < n; k += blocks.back().size) {
    blocks.push_back({k, k + 1 < n && t.at(k + 1, k) != 0 ? 2 : 1});
    if (blocks.back().size == 2 || t.at(k, k) > rounding) continue;
    if (t.at(k, k) < -rounding) return Matrix<double>::Constant(n, n, kNan);
    return std::nullopt;
  }
  Square root(n, n);
  for (size_t j = 0; j < blocks.size(); ++j) {
    const DiagonalBlock& column = blocks[j];
    if (column.size == 2) {
      RootOfPair(t, column.at, root);
    } else {
      root.at(column.at, column.at) = std::sqrt(t.at(column.at, column.at));
    }
    for (int64_t c = column.at; c < column.at + column.size; ++c) {
      std::copy_n(t.column(c), column.at, root.column(c));
    }
    // Each block is solved for when the products with those below it have been subtracted.
    for (size_t i = j; i-- > 0;) {
      const DiagonalBlock& row = blocks[i];
      SolveBlock(row, column, root);
      for (int64_t c = column.at; c < column.at + column.size; ++c) {
        for (int64_t k = row.at; k < row.at + row.size; ++k) {
          SubtractColumn(root.at(k, c), root.column(k), row.at, root.column(c));
        }
      }
    }
  }
  return FromSchur(schur->u, root);
}

Matrix<complex128> ComplexSquareRoot(const Matrix<complex128>& m) {
  const auto schur = DecomposeSchur(m, /*vectors=*/true);
  const int64_t n = m.rows();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (!schur.has_value()) return Matrix<complex128>::Constant(n, n, kNan);
  ColumnMatrix<complex128> root(n, n);
  for (int64_t j = 0; j < n; ++j) {
    complex128* const column = root.column(j);
    std::copy_n(schur->t.column(j), j, column);
    column[j] = std::sqrt(schur->t.at(j, j));
    for (int64_t i = j - 1; i >= 0; --i) {
      column[i] /= root.at(i, i) + column[j];
      SubtractColumn(column[i], root.column(i), i, column);
    }
  }
  return FromSchur(schur->u, root);
}

}  // namespace tenon
