// Solutions X of A X = B by substitution, for triangular A; batch dimensions broadcast. The
// attributes lower and adjoint determine which triangle is read, and whether A is its conjugate
// transpose.
#ifndef TENON_KERNELS_LINALG_TRIANGULAR_SOLVE_H_
#define TENON_KERNELS_LINALG_TRIANGULAR_SOLVE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: A [..., n, n] and B [..., n, k]. A zero on the diagonal gives infinities. Floating-point
// and complex dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> TriangularSolve(PrepareContext& p);

// Each row of input 0, [..., diagonals, n], is a diagonal of A, and column i has row i's elements:
// the main diagonal is first if A is lower, last if it is upper. Computed in double precision;
// InvalidArgument at Run if the main diagonal has a zero. float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> BandedTriangularSolve(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_TRIANGULAR_SOLVE_H_
