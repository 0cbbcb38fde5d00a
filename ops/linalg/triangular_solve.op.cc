// MatrixTriangularSolve: X with A X = B for a triangular A, by substitution (a zero
// on the diagonal gives infinities); batch dimensions broadcast.
#include "kernels/linalg/triangular_solve.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status TriangularShape(ShapeContext& c) {
  const Shape& m = c.input(0);
  const Shape& rhs = c.input(1);
  TENON_RETURN_IF_ERROR(ExpectSquare(m));
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  if (!m.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  if (!Shape({m.dim(m.rank() - 1)}).CompatibleWith(Shape({rhs.dim(rhs.rank() - 2)}))) {
    return InvalidArgument("a right-hand side of shape ", rhs.ToString(), " for matrices of shape ",
                           m.ToString());
  }
  TENON_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(WithMatrix(m, {}), WithMatrix(rhs, {})));
  out.push_back(rhs.dim(rhs.rank() - 2));
  out.push_back(rhs.dim(rhs.rank() - 1));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration matrix_triangular_solve_op({
    .name = "MatrixTriangularSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "lower: bool = true; adjoint: bool = false; T: type",
    .types = "T: bfloat16 double float half complex64 complex128",
    .shape = TriangularShape,
    .reference = TriangularSolve,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_matrix_triangular_solve_op({
    .name = "BatchMatrixTriangularSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "lower: bool = true; adjoint: bool = false; T: type",
    .types = "T: double float",
    .shape = TriangularShape,
    .reference = TriangularSolve,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
