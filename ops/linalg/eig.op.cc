// Eig: eigenvalues and eigenvectors of general matrices, complex.
#include "kernels/linalg/loops/eig.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status EigShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectSquare(in));
  if (!in.has_rank()) return absl::OkStatus();
  c.set_output(0, WithMatrix(in, {in.dim(in.rank() - 1)}));
  c.set_output(1, c.attrs().Bool("compute_v", true) ? in : Shape({0}));
  return absl::OkStatus();
}

const OpRegistration eig_op({
    .name = "Eig",
    .inputs = "input: T",
    .outputs = "e: Tout, v: Tout",
    .attrs = "compute_v: bool = true; T: type; Tout: type",
    .types = "T: float double complex64 complex128; Tout: complex64 complex128",
    .shape = EigShape,
    .reference = Eig,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
