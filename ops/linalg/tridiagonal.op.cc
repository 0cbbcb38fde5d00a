// TridiagonalSolve, TridiagonalMatMul. The diagonals are three rows: superdiagonal (its last
// element is not used), main diagonal, and subdiagonal (its first element is not used).
#include "kernels/linalg/loops/tridiagonal.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status TridiagonalSolveShape(ShapeContext& c) {
  const Shape& d = c.input(0);
  const Shape& rhs = c.input(1);
  TENON_RETURN_IF_ERROR(ExpectMatrices(d));
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  c.set_output(0, rhs);
  if (c.attrs().Bool("perturb_singular", false) && !c.attrs().Bool("partial_pivoting", true)) {
    return InvalidArgument("perturb_singular without partial_pivoting");
  }
  if (!d.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  const Shape expected = WithMatrix(rhs, {3, rhs.dim(rhs.rank() - 2)});
  if (!expected.CompatibleWith(d)) {
    return InvalidArgument("diagonals must have shape ", expected.ToString(), ", but have ",
                           d.ToString());
  }
  return absl::OkStatus();
}

absl::Status MatMulShape(ShapeContext& c) {
  const Shape& rhs = c.input(3);
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  c.set_output(0, rhs);
  if (!rhs.has_rank()) return absl::OkStatus();
  const Shape expected = WithMatrix(rhs, {1, rhs.dim(rhs.rank() - 2)});
  for (int i = 0; i < 3; ++i) {
    if (!expected.CompatibleWith(c.input(i))) {
      return InvalidArgument("diagonals must have shape ", expected.ToString(), ", but one has ",
                             c.input(i).ToString());
    }
  }
  return absl::OkStatus();
}

const OpRegistration tridiagonal_solve_op({
    .name = "TridiagonalSolve",
    .inputs = "diagonals: T, rhs: T",
    .outputs = "output: T",
    .attrs = "partial_pivoting: bool = true; perturb_singular: bool = false; T: type",
    .types = "T: double float complex64 complex128",
    .shape = TridiagonalSolveShape,
    .reference = TridiagonalSolve,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration tridiagonal_mat_mul_op({
    .name = "TridiagonalMatMul",
    .inputs = "superdiag: T, maindiag: T, subdiag: T, rhs: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float complex64 complex128",
    .shape = MatMulShape,
    .reference = TridiagonalMatMul,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
