// MatrixTriangularSolve: X with A X = B for a triangular A, by substitution (a zero
// on the diagonal gives infinities); batch dimensions broadcast.
#include "kernels/elementwise/reference_broadcast.h"
#include "kernels/interface/axis.h"
#include "kernels/linalg/systems.h"
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

template <typename T>
void Solve(const Matrix<T>& m, bool lower, Matrix<T>& x) {
  if (lower) {
    m.template triangularView<Eigen::Lower>().solveInPlace(x);
  } else {
    m.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> TriangularSolve(PrepareContext& p) {
  const MatrixBatch left = BatchOf(p.input_shape(0)), right = BatchOf(p.input_shape(1));
  const Shape left_batch = WithMatrix(p.input_shape(0), {});
  const Shape right_batch = WithMatrix(p.input_shape(1), {});
  const Shape batch = WithMatrix(p.output_shape(0), {});
  const bool adjoint = p.attrs().Bool("adjoint", false);
  const bool lower = p.attrs().Bool("lower", true);
  return DispatchType(
      Joined<MatrixTypes, TypeList<bfloat16>>{}, p.input_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          if (left.size() == 0 || right.size() == 0) return absl::OkStatus();
          for (int64_t b = 0; b < batch.num_elements(); ++b) {
            const T* from = run.input<T>(0) + BatchIndex(left_batch, batch, b) * left.size();
            const T* rhs = run.input<T>(1) + BatchIndex(right_batch, batch, b) * right.size();
            Matrix<ComputeType<T>> m = LoadMatrix(from, left.rows, left.cols);
            if (adjoint) m = m.adjoint().eval();
            Matrix<ComputeType<T>> x = LoadMatrix(rhs, right.rows, right.cols);
            Solve(m, lower != adjoint, x);
            StoreMatrix(x, run.output<T>(0) + b * right.size());
          }
          return absl::OkStatus();
        });
      });
}

const OpRegistration matrix_triangular_solve_op({
    .name = "MatrixTriangularSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "lower: bool = true; adjoint: bool = false; T: type",
    .types = "T: bfloat16 double float half complex64 complex128",
    .shape = TriangularShape,
    .reference = TriangularSolve,
});

const OpRegistration batch_matrix_triangular_solve_op({
    .name = "BatchMatrixTriangularSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "lower: bool = true; adjoint: bool = false; T: type",
    .types = "T: double float",
    .shape = TriangularShape,
    .reference = TriangularSolve,
});

}  // namespace
}  // namespace tenon
