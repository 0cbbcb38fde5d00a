// Cholesky: the lower triangular L with L L^H = A, from A's lower triangle.
#include <Eigen/Cholesky>

#include "ops/linalg/matrices.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> Cholesky(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NoKernelFor(p.input_dtype(0));
  VisitTypes(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    kernel = MakeKernel([batch](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const T* from = run.input<T>(0) + b * batch.size();
        const Eigen::LLT<Matrix<ComputeType<T>>, Eigen::Lower> llt(
            LoadMatrix(from, batch.rows, batch.cols));
        if (llt.info() != Eigen::Success) {
          return InvalidArgument("matrix ", b, " is not positive definite");
        }
        const Matrix<ComputeType<T>> l = llt.matrixL();
        StoreMatrix(l, run.output<T>(0) + b * batch.size());
      }
      return absl::OkStatus();
    });
  });
  return kernel;
}

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
