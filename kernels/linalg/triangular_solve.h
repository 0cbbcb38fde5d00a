// Solutions X of A X = B by substitution, for triangular A; batch dimensions broadcast. Attributes
// lower and adjoint say which triangle is read, and whether A is its conjugate transpose.
#ifndef TENON_KERNELS_LINALG_TRIANGULAR_SOLVE_H_
#define TENON_KERNELS_LINALG_TRIANGULAR_SOLVE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: A [..., n, n] and B [..., n, k]. A zero on the diagonal gives infinities. Floating and
// complex dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> TriangularSolve(PrepareContext& p);

// Row k of input 0, [..., diagonals, n], holds a diagonal of A, and its column i what row i of A
// has of it: the main one first where A is lower, last where it is upper. Computed in double
// precision; InvalidArgument at Run where the main diagonal has a zero. float, double, half and
// complex.
absl::StatusOr<std::unique_ptr<Kernel>> BandedTriangularSolve(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_TRIANGULAR_SOLVE_H_
