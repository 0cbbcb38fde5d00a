// MatrixTriangularSolve: X with A X = B for a triangular A, by substitution; batch dimensions
// broadcast.
#include "ops/array/axis.h"
#include "ops/linalg/matrices.h"
#include "ops/math/broadcast.h"
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

// Which matrix of `shape`'s batch the one at `index` of `out`'s batch is.
int64_t BatchIndex(const Shape& shape, const Shape& out, int64_t index) {
  int64_t at = 0, stride = 1;
  for (int k = 1; k <= out.rank(); ++k) {
    const int64_t d = out.dim(out.rank() - k), i = index % d;
    index /= d;
    if (k > shape.rank()) continue;
    const int64_t size = shape.dim(shape.rank() - k);
    if (size != 1) at += i * stride;
    stride *= size;
  }
  return at;
}

template <typename T>
bool Solve(const Matrix<T>& m, bool lower, Matrix<T>& x) {
  for (int64_t i = 0; i < m.rows(); ++i) {
    if (m(i, i) == T(0)) return false;
  }
  if (lower) {
    m.template triangularView<Eigen::Lower>().solveInPlace(x);
  } else {
    m.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
  return true;
}

absl::StatusOr<std::unique_ptr<Kernel>> TriangularSolve(PrepareContext& p) {
  const MatrixBatch left = BatchOf(p.input_shape(0)), right = BatchOf(p.input_shape(1));
  const Shape left_batch = WithMatrix(p.input_shape(0), {});
  const Shape right_batch = WithMatrix(p.input_shape(1), {});
  const Shape batch = WithMatrix(p.output_shape(0), {});
  const bool adjoint = p.attrs().Bool("adjoint", false);
  const bool lower = p.attrs().Bool("lower", true);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NoKernelFor(p.input_dtype(0));
  VisitTypes(Joined<MatrixTypes, TypeList<bfloat16>>{}, p.input_dtype(0), [&]<typename T>() {
    kernel = MakeKernel([=](RunContext& run) -> absl::Status {
      if (left.size() == 0 || right.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.num_elements(); ++b) {
        const T* from = run.input<T>(0) + BatchIndex(left_batch, batch, b) * left.size();
        const T* rhs = run.input<T>(1) + BatchIndex(right_batch, batch, b) * right.size();
        Matrix<ComputeType<T>> m = LoadMatrix(from, left.rows, left.cols);
        if (adjoint) m = m.adjoint().eval();
        Matrix<ComputeType<T>> x = LoadMatrix(rhs, right.rows, right.cols);
        if (!Solve(m, lower != adjoint, x)) {
          return InvalidArgument("the matrix is not invertible");
        }
        StoreMatrix(x, run.output<T>(0) + b * right.size());
      }
      return absl::OkStatus();
    });
  });
  return kernel;
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
