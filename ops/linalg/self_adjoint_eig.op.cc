// SelfAdjointEigV2: eigenvalues, rising, and eigenvectors of Hermitian matrices, from their lower
// triangles.
#include <Eigen/Eigenvalues>

#include "kernels/linalg/matrices.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SelfAdjointEigShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectSquare(in));
  if (!in.has_rank()) return absl::OkStatus();
  c.set_output(0, WithMatrix(in, {in.dim(in.rank() - 1)}));
  c.set_output(1, c.attrs().Bool("compute_v", true) ? in : Shape({0}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> SelfAdjointEig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true);
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (in.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < in.count; ++b) {
        const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic>> eig(
            LoadMatrix(run.input<T>(0) + b * in.size(), in.rows, in.cols),
            vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
        if (eig.info() != Eigen::Success) {
          return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
        }
        for (int64_t i = 0; i < in.rows; ++i) {
          run.output<T>(0)[b * in.rows + i] = static_cast<T>(C(eig.eigenvalues()(i)));
        }
        if (vectors) StoreMatrix(eig.eigenvectors(), run.output<T>(1) + b * in.size());
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration self_adjoint_eig_v2_op({
    .name = "SelfAdjointEigV2",
    .inputs = "input: T",
    .outputs = "e: T, v: T",
    .attrs = "compute_v: bool = true; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SelfAdjointEigShape,
    .reference = SelfAdjointEig,
});

const OpRegistration batch_self_adjoint_eig_v2_op({
    .name = "BatchSelfAdjointEigV2",
    .inputs = "input: T",
    .outputs = "e: T, v: T",
    .attrs = "compute_v: bool = true; T: type",
    .types = "T: double float",
    .shape = SelfAdjointEigShape,
    .reference = SelfAdjointEig,
});

}  // namespace
}  // namespace tenon
