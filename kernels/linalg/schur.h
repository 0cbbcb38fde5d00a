// Eigen's Schur decompositions for the matrix types used here, compiled once (schur.cc);
// eigenvalues and matrix functions build on them. Include this before using an Eigen class that
// would instantiate them.
#ifndef TENON_KERNELS_LINALG_SCHUR_H_
#define TENON_KERNELS_LINALG_SCHUR_H_

#include <Eigen/Eigenvalues>

#include "kernels/linalg/matrices.h"

namespace Eigen {

extern template RealSchur<MatrixXf>& RealSchur<MatrixXf>::compute(const EigenBase<MatrixXf>&, bool);

extern template RealSchur<MatrixXd>& RealSchur<MatrixXd>::compute(const EigenBase<MatrixXd>&, bool);

extern template ComplexSchur<tenon::Matrix<tenon::complex128>>&
ComplexSchur<tenon::Matrix<tenon::complex128>>::compute(
    const EigenBase<tenon::Matrix<tenon::complex128>>&, bool);

}  // namespace Eigen

#endif  // TENON_KERNELS_LINALG_SCHUR_H_
