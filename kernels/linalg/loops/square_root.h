// The principal square roots of matrices, by their Schur forms (Higham, "Computing real square
// roots of a real matrix").
#ifndef TENON_KERNELS_LINALG_LOOPS_SQUARE_ROOT_H_
#define TENON_KERNELS_LINALG_LOOPS_SQUARE_ROOT_H_

#include <optional>

#include "kernels/linalg/loops/matrices.h"

namespace tenon {

// NaN if an eigenvalue is below 0, so that there is no real root. Nothing: one is about 0, and only
// rounding decides.
std::optional<Matrix<double>> RealSquareRoot(const Matrix<double>& m);

// NaN if the Schur form is not found.
Matrix<complex128> ComplexSquareRoot(const Matrix<complex128>& m);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_SQUARE_ROOT_H_
