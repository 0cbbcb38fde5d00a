#include "kernels/linalg/schur.h"

namespace Eigen {

template RealSchur<MatrixXf>& RealSchur<MatrixXf>::compute(const EigenBase<MatrixXf>&, bool);

template RealSchur<MatrixXd>& RealSchur<MatrixXd>::compute(const EigenBase<MatrixXd>&, bool);

template ComplexSchur<tenon::Matrix<tenon::complex128>>&
ComplexSchur<tenon::Matrix<tenon::complex128>>::compute(
    const EigenBase<tenon::Matrix<tenon::complex128>>&, bool);

}  // namespace Eigen
