// MatrixSolveLs: the x that minimizes |A x - b|² + l2 |x|², or the shortest of them where A has
// more columns than rows. `fast` solves the normal equations by Cholesky's method; without it an
// orthogonal decomposition is taken, and l2 is not used.
#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "kernels/linalg/systems.h"
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

template <typename M>
absl::StatusOr<M> SolveNormal(const M& a, const M& b, double l2) {
  const bool tall = a.rows() >= a.cols();
  M gram = tall ? M(a.adjoint() * a) : M(a * a.adjoint());
  gram.diagonal().array() += typename M::Scalar(l2);
  const Eigen::LLT<M> llt(gram);
  if (llt.info() != Eigen::Success) {
    return InvalidArgument("the matrix is rank-deficient, or l2_regularizer too small");
  }
  return tall ? M(llt.solve(a.adjoint() * b)) : M(a.adjoint() * llt.solve(b));
}

absl::StatusOr<std::unique_ptr<Kernel>> LeastSquares(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0)), rhs = BatchOf(p.input_shape(1));
  const bool fast = p.attrs().Bool("fast", true);
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t size = batch.cols * rhs.cols;
      if (batch.size() == 0 || rhs.size() == 0) {
        std::fill_n(run.output<T>(0), batch.count * size, T(0));
        return absl::OkStatus();
      }
      using M = Matrix<WideType<T>>;
      for (int64_t i = 0; i < batch.count; ++i) {
        const M a = LoadWide(run.input<T>(0) + i * batch.size(), batch.rows, batch.cols);
        const M b = LoadWide(run.input<T>(1) + i * rhs.size(), rhs.rows, rhs.cols);
        M x;
        if (fast) {
          TENON_ASSIGN_OR_RETURN(x, SolveNormal(a, b, *run.input<double>(2)));
        } else {
          x = Eigen::CompleteOrthogonalDecomposition<M>(a).solve(b);
        }
        StoreMatrix(x.template cast<ComputeType<T>>(), run.output<T>(0) + i * size);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration matrix_solve_ls_op({
    .name = "MatrixSolveLs",
    .inputs = "matrix: T, rhs: T, l2_regularizer: double",
    .outputs = "output: T",
    .attrs = "T: type; fast: bool = true",
    .types = "T: double float half complex64 complex128",
    .shape = LeastSquaresShape,
    .reference = LeastSquares,
});

}  // namespace
}  // namespace tenon
