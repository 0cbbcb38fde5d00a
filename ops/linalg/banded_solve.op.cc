// BandedTriangularSolve: X with A X = B for a triangular A with few diagonals. Each row of `matrix`
// is a diagonal, and column i has row i's elements of A: the main diagonal is first if A is lower,
// last if it is upper.
#include "kernels/linalg/triangular_solve.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status BandedShape(ShapeContext& c) {
  const Shape &bands = c.input(0), &rhs = c.input(1);
  TENON_RETURN_IF_ERROR(ExpectMatrices(bands));
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  if (!bands.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  const int64_t count = bands.dim(bands.rank() - 2), size = bands.dim(bands.rank() - 1);
  if (count == 0 || (count > 0 && size >= 0 && count > size)) {
    return InvalidArgument(count, " diagonals of a matrix of size ", size);
  }
  if (!Shape({size}).CompatibleWith(Shape({rhs.dim(rhs.rank() - 2)}))) {
    return InvalidArgument("a right-hand side of shape ", rhs.ToString(),
                           " for diagonals of shape ", bands.ToString());
  }
  TENON_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(WithMatrix(bands, {}), WithMatrix(rhs, {})));
  out.push_back(rhs.dim(rhs.rank() - 2));
  out.push_back(rhs.dim(rhs.rank() - 1));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration banded_triangular_solve_op({
    .name = "BandedTriangularSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "lower: bool = true; adjoint: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = BandedShape,
    .reference = BandedTriangularSolve,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
