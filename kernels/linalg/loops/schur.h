// Schur decompositions, by implicit QR iterations on the Hessenberg form (Golub and Van Loan,
// "Matrix Computations", 7.5), with Eigen's shifts, so that eigenvalues get the same order.
#ifndef TENON_KERNELS_LINALG_LOOPS_SCHUR_H_
#define TENON_KERNELS_LINALG_LOOPS_SCHUR_H_

#include <optional>

#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/reflections.h"

namespace tenon {

// m = U T U^H. T is upper triangular, but a real one has a block of 2 x 2 for each pair of complex
// eigenvalues.
template <typename S>
struct SchurForm {
  ColumnMatrix<S> t, u;
};

// Of a finite square matrix; without `vectors`, u is empty. Nothing: no convergence. S: float,
// double or complex128.
template <typename S>
std::optional<SchurForm<S>> DecomposeSchur(const Matrix<S>& m, bool vectors);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_SCHUR_H_
