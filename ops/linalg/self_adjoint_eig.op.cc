// SelfAdjointEig and SelfAdjointEigV2: eigenvalues, in ascending order, and eigenvectors of
// Hermitian matrices, from their lower triangles.
#include "kernels/linalg/self_adjoint_eig.h"

#include "kernels/interface/axis.h"
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

// One output: a row of eigenvalues above the eigenvectors.
absl::Status JoinedEigShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectSquare(in));
  if (!in.has_rank()) return absl::OkStatus();
  const int64_t n = std::max(in.dim(in.rank() - 1), in.dim(in.rank() - 2));
  c.set_output(0, WithMatrix(in, {AddDims(n, 1), n}));
  return absl::OkStatus();
}

OpRow JoinedEig(const char* name) {
  return {
      .name = name,
      .inputs = "input: T",
      .outputs = "output: T",
      .attrs = "T: type",
      .types = "T: double float",
      .shape = JoinedEigShape,
      .reference = SelfAdjointEig,
      .error_bound = ErrorBound::kLinearAlgebra,
  };
}

const OpRegistration self_adjoint_eig_op(JoinedEig("SelfAdjointEig"));
const OpRegistration batch_self_adjoint_eig_op(JoinedEig("BatchSelfAdjointEig"));

const OpRegistration self_adjoint_eig_v2_op({
    .name = "SelfAdjointEigV2",
    .inputs = "input: T",
    .outputs = "e: T, v: T",
    .attrs = "compute_v: bool = true; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SelfAdjointEigShape,
    .reference = SelfAdjointEig,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_self_adjoint_eig_v2_op({
    .name = "BatchSelfAdjointEigV2",
    .inputs = "input: T",
    .outputs = "e: T, v: T",
    .attrs = "compute_v: bool = true; T: type",
    .types = "T: double float",
    .shape = SelfAdjointEigShape,
    .reference = SelfAdjointEig,
    .error_bound = ErrorBound::kLinearAlgebra,
});

// Of the lower or the upper triangles. The other attributes control XLA's iteration.
const OpRegistration xla_self_adjoint_eig_op({
    .name = "XlaSelfAdjointEig",
    .inputs = "a: T",
    .outputs = "w: T, v: T",
    .attrs = "lower: bool; max_iter: int; epsilon: float; T: type",
    .types = "T: double float half",
    .shape = SelfAdjointEigShape,
    .reference = SelfAdjointEig,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
