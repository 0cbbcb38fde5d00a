// MatrixSolveLs and BatchMatrixSolveLs: the x that minimizes |A x - b|² + l2 |x|², or the shortest
// such x if A has more columns than rows. `fast` solves the normal equations by Cholesky
// decomposition; otherwise it uses an orthogonal decomposition and ignores l2.
#include "kernels/linalg/least_squares.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status LeastSquaresShape(ShapeContext& c) {
  const Shape &m = c.input(0), &rhs = c.input(1);
  TENON_RETURN_IF_ERROR(ExpectMatrices(m));
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  if (!m.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  if (!WithMatrix(m, {m.dim(m.rank() - 2)})
           .CompatibleWith(WithMatrix(rhs, {rhs.dim(rhs.rank() - 2)}))) {
    return InvalidArgument("a right-hand side of shape ", rhs.ToString(), " for matrices of shape ",
                           m.ToString());
  }
  c.set_output(0, WithMatrix(m, {m.dim(m.rank() - 1), rhs.dim(rhs.rank() - 1)}));
  return absl::OkStatus();
}

const OpRegistration matrix_solve_ls_op({
    .name = "MatrixSolveLs",
    .inputs = "matrix: T, rhs: T, l2_regularizer: double",
    .outputs = "output: T",
    .attrs = "T: type; fast: bool = true",
    .types = "T: double float half complex64 complex128",
    .shape = LeastSquaresShape,
    .reference = LeastSquares,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_matrix_solve_ls_op({
    .name = "BatchMatrixSolveLs",
    .inputs = "matrix: T, rhs: T, l2_regularizer: double",
    .outputs = "output: T",
    .attrs = "T: type; fast: bool = true",
    .types = "T: double float",
    .shape = LeastSquaresShape,
    .reference = LeastSquares,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
