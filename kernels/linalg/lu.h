// Results of an LU decomposition with partial pivoting of square matrices, [..., n, n]: inverses,
// determinants, solutions. float, double, half and complex. A matrix with a zero pivot has no
// inverse: InvalidArgument at Run.
#ifndef TENON_KERNELS_LINALG_LU_H_
#define TENON_KERNELS_LINALG_LU_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The inverse of input 0, or with attribute adjoint of its conjugate transpose.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixInverse(PrepareContext& p);

// Output 0, [...]: the product of the pivots.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixDeterminant(PrepareContext& p);

// Outputs, [...]: the determinant's sign (with magnitude 1, or 0) and the logarithm of its
// magnitude.
absl::StatusOr<std::unique_ptr<Kernel>> LogMatrixDeterminant(PrepareContext& p);

// The X with A X = B, where A is input 0 (with attribute adjoint, its conjugate transpose) and B is
// input 1, [..., n, k].
absl::StatusOr<std::unique_ptr<Kernel>> MatrixSolve(PrepareContext& p);

// Outputs: both triangles in one matrix, and the permutation of rows, [..., n], int32 or int64.
absl::StatusOr<std::unique_ptr<Kernel>> Lu(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LU_H_
