#include "kernels/linalg/schur.h"

namespace Eigen {

template RealSchur<tenon::Matrix<double>>& RealSchur<tenon::Matrix<double>>::compute(
    const EigenBase<tenon::Matrix<double>>&, bool);

template ComplexSchur<tenon::Matrix<tenon::complex128>>&
ComplexSchur<tenon::Matrix<tenon::complex128>>::compute(
    const EigenBase<tenon::Matrix<tenon::complex128>>&, bool);

}  // namespace Eigen
