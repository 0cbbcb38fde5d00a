#include "kernels/linalg/least_squares.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/linalg/loops/elimination.h"
#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/numbers.h"
#include "kernels/linalg/loops/reflections.h"

namespace tenon {
namespace {

template <typename S>
absl::StatusOr<Matrix<S>> SolveNormal(const Matrix<S>& a, const Matrix<S>& b, double l2) {
  const bool tall = a.rows() >= a.cols();
  const Matrix<S> adjoint = a.adjoint();
  Matrix<S> gram = tall ? Product(adjoint, a) : Product(a, adjoint);
  gram.diagonal().array() += S(l2);
  if (!FactorCholesky(gram)) {
    return InvalidArgument("the matrix is rank-deficient, or l2_regularizer too small");
  }
  Matrix<S> x = tall ? Product(adjoint, b) : b;
  SolveLower(gram, Diagonal::kGiven, x);
  SolveUpper(Matrix<S>(gram.adjoint()), x);
  return tall ? x : Product(adjoint, x);
}

// The shortest of the best solutions. What is `threshold` times as large as the largest pivot
// counts as 0: A P = Q T, where T has as many rows as the rank; if it has more columns, T = L Q'^H.
template <typename S>
Matrix<S> SolveOrthogonal(const Matrix<S>& a, const Matrix<S>& b, double threshold) {
  const int64_t cols = a.cols();
  if (!a.allFinite()) return Matrix<S>::Zero(cols, b.cols());  // as in TensorFlow: no rank
  ColumnMatrix<S> m(a.rows(), cols), right(b.rows(), b.cols()), solution(cols, b.cols());
  m.LoadRows(a.data());
  right.LoadRows(b.data());
  std::vector<int64_t> order;
  const Reflections<S> q = MakeTriangular(m, order);
  double largest = 0;
  for (int64_t k = 0; k < q.count(); ++k) largest = std::max(largest, std::abs(m.at(k, k)));
  int64_t rank = 0;
  for (int64_t k = 0; k < q.count(); ++k) rank += std::abs(m.at(k, k)) > threshold * largest;
  q.ApplyAdjoint(0, rank, right, 0, b.cols());

  Matrix<S> x(rank, b.cols()), triangle = Matrix<S>::Zero(rank, rank);
  for (int64_t i = 0; i < rank; ++i) {
    for (int64_t j = 0; j < b.cols(); ++j) x(i, j) = right.at(i, j);
  }
  const auto store = [&] {
    for (int64_t i = 0; i < rank; ++i) {
      for (int64_t j = 0; j < b.cols(); ++j) solution.at(i, j) = x(i, j);
    }
  };
  if (rank == cols) {
    for (int64_t i = 0; i < rank; ++i) {
      for (int64_t j = i; j < rank; ++j) triangle(i, j) = m.at(i, j);
    }
    SolveUpper(triangle, x);
    store();
  } else {
    ColumnMatrix<S> adjoint(cols, rank);
    for (int64_t i = 0; i < rank; ++i) {
      for (int64_t j = i; j < cols; ++j) adjoint.at(j, i) = Conjugate(m.at(i, j));
    }
    const Reflections<S> other = MakeTriangular(adjoint);
    for (int64_t i = 0; i < rank; ++i) {
      for (int64_t j = 0; j <= i; ++j) triangle(i, j) = Conjugate(adjoint.at(j, i));
    }
    SolveLower(triangle, Diagonal::kGiven, x);
    store();
    other.Apply(solution);
  }
  Matrix<S> out(cols, b.cols());
  for (int64_t i = 0; i < cols; ++i) {
    for (int64_t j = 0; j < b.cols(); ++j)
      out(order[static_cast<size_t>(i)], j) = solution.at(i, j);
  }
  return out;
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
  const int threads = p.services().threads;
  return DispatchType(WideScalars{}, WideDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0 || rhs.size() == 0) {
        std::memset(run.output(0), 0, out_bytes);
        return absl::OkStatus();
      }
      const double l2 = *run.input<double>(2);
      if (!(l2 >= 0)) return InvalidArgument("l2_regularizer is negative: ", l2);
      const double ns = NsOfMatrix(batch, 4) + NsOfMatrix(rhs, 2);
      return ForMatrices(threads, batch.count, ns, [&](int64_t i) -> absl::Status {
        const Matrix<S> a = LoadMatrix<S>(dtype, run.input(0), batch, i);
        const Matrix<S> b = LoadMatrix<S>(dtype, run.input(1), rhs, i);
        Matrix<S> x;
        if (fast) {
          TENON_ASSIGN_OR_RETURN(x, SolveNormal(a, b, l2));
        } else {
          x = SolveOrthogonal(a, b, rounding * static_cast<double>(std::min(a.rows(), a.cols())));
        }
        StoreMatrix(x, dtype, run.output(0), i);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
