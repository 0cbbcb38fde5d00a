#include "kernels/linalg/real_square_root.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/linalg/schur.h"

namespace tenon {
namespace {

using Square = Eigen::MatrixXd;

// The square root of the 2 x 2 block at k, whose eigenvalues are a pair theta +- i mu.
void RootOfPair(const Square& t, int64_t k, Square& root) {
  const double a = t(k, k), b = t(k, k + 1), c = t(k + 1, k), d = t(k + 1, k + 1);
  const double theta = (a + d) / 2, half = (a - d) / 2;
  const double mu = std::sqrt(std::max(-(half * half + b * c), 0.0));
  const double size = std::hypot(theta, mu);
  const double alpha =
      theta > 0 ? std::sqrt((size + theta) / 2) : mu / (2 * std::sqrt((size - theta) / 2));
  root(k, k) = alpha + half / (2 * alpha);
  root(k, k + 1) = b / (2 * alpha);
  root(k + 1, k) = c / (2 * alpha);
  root(k + 1, k + 1) = alpha - half / (2 * alpha);
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
      for (int64_t k = 0; k < i.size; ++k) row[k * j.size + c] += root(i.at + r, i.at + k);
      for (int64_t k = 0; k < j.size; ++k) row[r * j.size + k] += root(j.at + k, j.at + c);
      row[n] = root(i.at + r, j.at + c);
    }
  }
  SolveFew(rows, n);
  for (int64_t k = 0; k < n; ++k) root(i.at + k / j.size, j.at + k % j.size) = rows[k][n];
}

}  // namespace

std::optional<Matrix<double>> RealSquareRoot(const Matrix<double>& m) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const int64_t n = m.rows();
  const Eigen::RealSchur<Square> schur(m);
  if (schur.info() != Eigen::Success) return Matrix<double>::Constant(n, n, kNan);
  const Square& t = schur.matrixT();
  // Where an eigenvalue is as good as 0: the rounding error of a multiple one is the root of
  // epsilon.
  const double rounding = 32 * std::sqrt(std::numeric_limits<double>::epsilon()) * t.norm();
  std::vector<DiagonalBlock> blocks;
  for (int64_t k = 0; k < n; k += blocks.back().size) {
    blocks.push_back({k, k + 1 < n && t(k + 1, k) != 0 ? 2 : 1});
    if (blocks.back().size == 2 || t(k, k) > rounding) continue;
    if (t(k, k) < -rounding) return Matrix<double>::Constant(n, n, kNan);
    return std::nullopt;
  }
  Square root = Square::Zero(n, n);
  for (size_t j = 0; j < blocks.size(); ++j) {
    const DiagonalBlock& column = blocks[j];
    if (column.size == 2) {
      RootOfPair(t, column.at, root);
    } else {
      root(column.at, column.at) = std::sqrt(t(column.at, column.at));
    }
    for (size_t i = j; i-- > 0;) {
      const DiagonalBlock& row = blocks[i];
      for (int64_t c = column.at; c < column.at + column.size; ++c) {
        for (int64_t r = row.at; r < row.at + row.size; ++r) {
          double sum = t(r, c);
          for (int64_t k = row.at + row.size; k < column.at; ++k) sum -= root(r, k) * root(k, c);
          root(r, c) = sum;
        }
      }
      SolveBlock(row, column, root);
    }
  }
  const Matrix<double> u = schur.matrixU();
  return Product(Product(u, Matrix<double>(root)), Matrix<double>(u.transpose()));
}

}  // namespace tenon
