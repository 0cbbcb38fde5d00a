#include "kernels/linalg/least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/linalg/matrices.h"

namespace tenon {
namespace {

template <typename S>
absl::StatusOr<Matrix<S>> SolveNormal(const Matrix<S>& a, const Matrix<S>& b, double l2) {
  const bool tall = a.rows() >= a.cols();
  const Matrix<S> adjoint = a.adjoint();
  Matrix<S> gram = tall ? Product(adjoint, a) : Product(a, adjoint);
  gram.diagonal().array() += S(l2);
  const Eigen::LLT<Matrix<S>> llt(gram);
  if (llt.info() != Eigen::Success) {
    return InvalidArgument("the matrix is rank-deficient, or l2_regularizer too small");
  }
  Matrix<S> x = tall ? Product(adjoint, b) : b;
  llt.solveInPlace(x);
  return tall ? x : Product(adjoint, x);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LeastSquares(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0)), rhs = BatchOf(p.input_shape(1));
  const bool fast = p.attrs().Bool("fast", true);
  const DType dtype = p.input_dtype(0);
  // What TensorFlow takes for zero beside the largest pivot, though this computes in double.
  const bool wide = dtype == DType::kDouble || dtype == DType::kComplex128;
  const double rounding = wide ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
  const size_t out_bytes = static_cast<size_t>(p.output_shape(0).num_elements()) * SizeOf(dtype);
  return DispatchType(WideScalars{}, WideDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0 || rhs.size() == 0) {
        std::memset(run.output(0), 0, out_bytes);
        return absl::OkStatus();
      }
      const double l2 = *run.input<double>(2);
      if (!(l2 >= 0)) return InvalidArgument("l2_regularizer is negative: ", l2);
      for (int64_t i = 0; i < batch.count; ++i) {
        const Matrix<S> a = LoadMatrix<S>(dtype, run.input(0), batch, i);
        const Matrix<S> b = LoadMatrix<S>(dtype, run.input(1), rhs, i);
        Matrix<S> x;
        if (fast) {
          TENON_ASSIGN_OR_RETURN(x, SolveNormal(a, b, l2));
        } else {
          Eigen::CompleteOrthogonalDecomposition<Matrix<S>> decomposition(a.rows(), a.cols());
          decomposition.setThreshold(rounding * static_cast<double>(std::min(a.rows(), a.cols())));
          x = decomposition.compute(a).solve(b);
        }
        StoreMatrix(x, dtype, run.output(0), i);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
