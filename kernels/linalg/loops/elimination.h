// Gaussian elimination on matrices stored row by row: triangular factors, and systems that have
// them. Long sums are products of blocks (kernels/matmul/dense_product_simd.h). S: float, double or
// complex128.
#ifndef TENON_KERNELS_LINALG_LOOPS_ELIMINATION_H_
#define TENON_KERNELS_LINALG_LOOPS_ELIMINATION_H_

#include <cstdint>
#include <vector>

#include "kernels/linalg/loops/matrices.h"

namespace tenon {

enum class Diagonal { kGiven, kOnes };

// X in L X = B and in U X = B; B, which X replaces, has as many rows. Of the square matrix only the
// lower or the upper triangle is read, without its diagonal if that is of ones.
template <typename S>
void SolveLower(const Matrix<S>& l, Diagonal diagonal, Matrix<S>& b);
template <typename S>
void SolveUpper(const Matrix<S>& u, Matrix<S>& b);

// P A = L U, with the largest element of a column as its pivot. `factors` holds U and, below the
// diagonal, L, whose diagonal is of ones.
template <typename S>
struct LuFactors {
  Matrix<S> factors;
  std::vector<int64_t> rows;  // of A: row i of P A is row rows[i]
  bool odd = false;           // whether P is an odd permutation
};
template <typename S>
LuFactors<S> FactorLu(Matrix<S> a);
// X in A X = B.
template <typename S>
Matrix<S> Solve(const LuFactors<S>& lu, const Matrix<S>& b);
template <typename S>
Matrix<S> Inverse(const LuFactors<S>& lu);

// A = L L^H: replaces the lower triangle of A, the only one that is read, by L; the other one may
// change. False: A is not positive definite.
template <typename S>
bool FactorCholesky(Matrix<S>& a);

// The lower triangle of the product of an upper and a lower triangular matrix; the rest is 0.
template <typename S>
Matrix<S> LowerProduct(const Matrix<S>& upper, const Matrix<S>& lower);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_ELIMINATION_H_
