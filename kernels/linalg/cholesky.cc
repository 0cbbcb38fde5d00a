#include "kernels/linalg/cholesky.h"

#include <Eigen/Cholesky>
#include <limits>

#include "kernels/linalg/matrices.h"

namespace tenon {
namespace {

// (S + S^T) / 2 with S = L^-T P L^-1, where P is the lower triangle of L^T grad with its diagonal
// halved.
Matrix<double> SymmetricGrad(const Matrix<double>& l, const Matrix<double>& given) {
  const auto lower = l.triangularView<Eigen::Lower>();
  const Matrix<double> grad = given.triangularView<Eigen::Lower>();
  const Matrix<double> product = lower.transpose() * grad;
  Matrix<double> s = product.triangularView<Eigen::Lower>();
  s.diagonal() /= 2;
  lower.transpose().solveInPlace(s);
  lower.solveInPlace<Eigen::OnTheRight>(s);
  return (s + s.transpose()) / 2;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Cholesky(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const Eigen::LLT<Matrix<S>, Eigen::Lower> llt(LoadMatrix<S>(dtype, run.input(0), batch, b));
        Matrix<S> l = llt.matrixL();
        if (llt.info() != Eigen::Success) {
          // For complex types, as in TensorFlow, this is 0.
          constexpr auto kNone = std::numeric_limits<S>::quiet_NaN();
          l.setZero();
          l.template triangularView<Eigen::Lower>().setConstant(kNone);
        }
        StoreMatrix(l, dtype, run.output(0), b);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CholeskyGrad(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) {
    if (batch.size() == 0) return absl::OkStatus();
    for (int64_t b = 0; b < batch.count; ++b) {
      StoreMatrix(SymmetricGrad(LoadMatrix<double>(dtype, run.input(0), batch, b),
                                LoadMatrix<double>(dtype, run.input(1), batch, b)),
                  dtype, run.output(0), b);
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
