// Products and linear systems of tridiagonal matrices, given by their diagonals: superdiagonal (its
// last element is not used), main diagonal, and subdiagonal (its first element is not used). float,
// double and complex.
#ifndef TENON_KERNELS_LINALG_LOOPS_TRIDIAGONAL_H_
#define TENON_KERNELS_LINALG_LOOPS_TRIDIAGONAL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: diagonals [..., 3, n] and right-hand sides [..., n, k]. Gaussian elimination, with row
// pivoting if attribute partial_pivoting is set; a zero pivot gives NaN for the whole matrix, or is
// enlarged if perturb_singular is set.
absl::StatusOr<std::unique_ptr<Kernel>> TridiagonalSolve(PrepareContext& p);

// Inputs: three diagonals [..., 1, n] and matrices [..., n, k].
absl::StatusOr<std::unique_ptr<Kernel>> TridiagonalMatMul(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_TRIDIAGONAL_H_
