// Cholesky: the lower triangular L with L L^H = A, from A's lower triangle; NaN where A is not
// positive definite. CholeskyGrad: A's gradient from L's.
#include <Eigen/Cholesky>
#include <limits>

#include "kernels/linalg/systems.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> Cholesky(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    using M = Matrix<ComputeType<T>>;
    return MakeKernel([batch](RunContext& run) {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const T* from = run.input<T>(0) + b * batch.size();
        const Eigen::LLT<M, Eigen::Lower> llt(LoadMatrix(from, batch.rows, batch.cols));
        M l = llt.matrixL();
        if (llt.info() != Eigen::Success) {
          // For complex types, as in TensorFlow, this is 0.
          constexpr auto kNone = std::numeric_limits<ComputeType<T>>::quiet_NaN();
          l.setZero();
          l.template triangularView<Eigen::Lower>().setConstant(kNone);
        }
        StoreMatrix(l, run.output<T>(0) + b * batch.size());
      }
      return absl::OkStatus();
    });
  });
}

absl::Status GradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSquare(c.input(1)));
  if (!c.input(0).CompatibleWith(c.input(1))) {
    return InvalidArgument("a gradient of shape ", c.input(1).ToString(), " for l of shape ",
                           c.input(0).ToString());
  }
  return SquareToSquareShape(c);
}

// (S + S^T) / 2 with S = L^-T P L^-1, where P is the lower triangle of L^T grad with half of its
// diagonal.
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

absl::StatusOr<std::unique_ptr<Kernel>> CholeskyGrad(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  return DispatchType(TypeList<float, double, half>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([batch](RunContext& run) {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const int64_t at = b * batch.size();
        StoreMatrix(SymmetricGrad(LoadWide(run.input<T>(0) + at, batch.rows, batch.cols),
                                  LoadWide(run.input<T>(1) + at, batch.rows, batch.cols)),
                    run.output<T>(0) + at);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration cholesky_grad_op({
    .name = "CholeskyGrad",
    .inputs = "l: T, grad: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half float double",
    .shape = GradShape,
    .reference = CholeskyGrad,
});

const OpRegistration batch_cholesky_grad_op({
    .name = "BatchCholeskyGrad",
    .inputs = "l: T, grad: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = GradShape,
    .reference = CholeskyGrad,
});

const OpRegistration cholesky_op({
    .name = "Cholesky",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = Cholesky,
});

const OpRegistration batch_cholesky_op({
    .name = "BatchCholesky",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float",
    .shape = SquareToSquareShape,
    .reference = Cholesky,
});

}  // namespace
}  // namespace tenon
