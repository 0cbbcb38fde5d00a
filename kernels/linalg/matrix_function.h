// Functions of square matrices, [..., n, n], computed in double precision: roots and logarithms
// from the Schur form, exponentials by scaling and squaring. A matrix with an infinity or NaN gives
// NaN.
#ifndef TENON_KERNELS_LINALG_MATRIX_FUNCTION_H_
#define TENON_KERNELS_LINALG_MATRIX_FUNCTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixSquareRoot(PrepareContext& p);

// complex; NaN if a block of the Schur form has no logarithm.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixLogarithm(PrepareContext& p);

// float, double and complex.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixExponential(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_MATRIX_FUNCTION_H_
