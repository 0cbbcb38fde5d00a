// MatrixInverse, MatrixDeterminant, LogMatrixDeterminant, MatrixSolve, Lu: results of an LU
// decomposition with partial pivoting.
#include "kernels/linalg/lu.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DeterminantShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSquare(c.input(0)));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, WithMatrix(c.input(0), {}));
  return absl::OkStatus();
}

absl::Status SolveShape(ShapeContext& c) {
  const Shape& m = c.input(0);
  const Shape& rhs = c.input(1);
  TENON_RETURN_IF_ERROR(ExpectSquare(m));
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  c.set_output(0, rhs);
  if (!m.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  if (!WithMatrix(m, {}).CompatibleWith(WithMatrix(rhs, {})) ||
      !Shape({m.dim(m.rank() - 1)}).CompatibleWith(Shape({rhs.dim(rhs.rank() - 2)}))) {
    return InvalidArgument("a right-hand side of shape ", rhs.ToString(), " for matrices of shape ",
                           m.ToString());
  }
  return absl::OkStatus();
}

absl::Status LuShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(SquareToSquareShape(c));
  const Shape& in = c.input(0);
  if (in.has_rank()) c.set_output(1, WithMatrix(in, {in.dim(in.rank() - 1)}));
  return absl::OkStatus();
}

const OpRegistration matrix_inverse_op({
    .name = "MatrixInverse",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixInverse,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_matrix_inverse_op({
    .name = "BatchMatrixInverse",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float",
    .shape = SquareToSquareShape,
    .reference = MatrixInverse,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration matrix_determinant_op({
    .name = "MatrixDeterminant",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half float double complex64 complex128",
    .shape = DeterminantShape,
    .reference = MatrixDeterminant,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_matrix_determinant_op({
    .name = "BatchMatrixDeterminant",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double complex64 complex128",
    .shape = DeterminantShape,
    .reference = MatrixDeterminant,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration log_matrix_determinant_op({
    .name = "LogMatrixDeterminant",
    .inputs = "input: T",
    .outputs = "sign: T, log_abs_determinant: T",
    .attrs = "T: type",
    .types = "T: half float double complex64 complex128",
    .shape = DeterminantShape,
    .reference = LogMatrixDeterminant,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration matrix_solve_op({
    .name = "MatrixSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SolveShape,
    .reference = MatrixSolve,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_matrix_solve_op({
    .name = "BatchMatrixSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float",
    .shape = SolveShape,
    .reference = MatrixSolve,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration lu_op({
    .name = "Lu",
    .inputs = "input: T",
    .outputs = "lu: T, p: output_idx_type",
    .attrs = "T: type; output_idx_type: type = int32",
    .types = "T: double float half complex64 complex128; output_idx_type: int32 int64",
    .shape = LuShape,
    .reference = Lu,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
