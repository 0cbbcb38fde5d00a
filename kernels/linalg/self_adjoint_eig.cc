#include "kernels/linalg/self_adjoint_eig.h"

#include <Eigen/Eigenvalues>

#include "kernels/linalg/matrices.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> SelfAdjointEig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true), joined = p.num_outputs() == 1;
  const bool lower = p.attrs().Bool("lower", true);
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (in.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < in.count; ++b) {
        Matrix<S> matrix = LoadMatrix<S>(dtype, run.input(0), in, b);
        if (!lower) matrix.adjointInPlace();
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixX<S>> eig(
            matrix, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
        if (eig.info() != Eigen::Success) {
          return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
        }
        const Eigen::VectorX<S> values = eig.eigenvalues().template cast<S>();
        if (joined) {
          Matrix<S> both(in.rows + 1, in.rows);
          both << values.transpose(), eig.eigenvectors();
          StoreMatrix(both, dtype, run.output(0), b);
          continue;
        }
        StoreElements(values.data(), in.rows, dtype, run.output(0), b * in.rows);
        if (vectors) StoreMatrix(Matrix<S>(eig.eigenvectors()), dtype, run.output(1), b);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
