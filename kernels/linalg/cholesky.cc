#include "kernels/linalg/cholesky.h"

#include <Eigen/Cholesky>
#include <limits>

#include "kernels/linalg/matrices.h"

namespace tenon {
namespace {

// (S + S^T) / 2 with S = L^-T P L^-1, where P is the lower triangle of L^T grad with its diagonal
// halved.
template <typename S>
Matrix<S> SymmetricGrad(const Matrix<S>& l, const Matrix<S>& given) {
  const auto lower = l.template triangularView<Eigen::Lower>();
  const Matrix<S> grad = given.template triangularView<Eigen::Lower>();
  const Matrix<S> product = lower.transpose() * grad;
  Matrix<S> s = product.template triangularView<Eigen::Lower>();
  s.diagonal() /= 2;
  lower.transpose().solveInPlace(s);
  lower.template solveInPlace<Eigen::OnTheRight>(s);
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
  return DispatchType(TypeList<float, double>{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const Matrix<S> l = LoadMatrix<S>(dtype, run.input(0), batch, b);
        const Matrix<S> grad = LoadMatrix<S>(dtype, run.input(1), batch, b);
        StoreMatrix(SymmetricGrad(l, grad), dtype, run.output(0), b);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
