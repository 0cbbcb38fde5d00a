#include "kernels/linalg/loops/cholesky.h"

#include <algorithm>
#include <limits>

#include "kernels/linalg/loops/elimination.h"
#include "kernels/linalg/loops/matrices.h"

namespace tenon {
namespace {

template <typename S>
void ClearUpper(Matrix<S>& m) {
  for (int64_t i = 0; i < m.rows(); ++i) std::fill_n(&m(i, 0) + i + 1, m.cols() - i - 1, S(0));
}

// (S + S^T) / 2 with S = L^-T P L^-1, where P is the lower triangle of L^T grad with its diagonal
// halved.
template <typename S>
Matrix<S> SymmetricGrad(Matrix<S> l, Matrix<S> grad) {
  ClearUpper(l);
  ClearUpper(grad);
  const Matrix<S> upper = l.transpose();
  Matrix<S> s = LowerProduct(upper, grad);
  s.diagonal() /= 2;
  SolveUpper(upper, s);
  s.transposeInPlace();
  SolveUpper(upper, s);
  const int64_t n = s.rows();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) s(i, j) = s(j, i) = (s(i, j) + s(j, i)) / 2;
  }
  return s;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Cholesky(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) {
      if (batch.size() == 0) return absl::OkStatus();
      return ForMatrices(threads, batch.count, NsOfMatrix(batch, 1), [&](int64_t b) {
        Matrix<S> l = LoadMatrix<S>(dtype, run.input(0), batch, b);
        // For complex types, as in TensorFlow, this is 0.
        constexpr auto kNone = std::numeric_limits<S>::quiet_NaN();
        if (!FactorCholesky(l)) l.setConstant(kNone);
        ClearUpper(l);
        StoreMatrix(l, dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CholeskyGrad(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(TypeList<float, double>{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) {
      if (batch.size() == 0) return absl::OkStatus();
      return ForMatrices(threads, batch.count, NsOfMatrix(batch, 3), [&](int64_t b) {
        const Matrix<S> grad = SymmetricGrad(LoadMatrix<S>(dtype, run.input(0), batch, b),
                                             LoadMatrix<S>(dtype, run.input(1), batch, b));
        StoreMatrix(grad, dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
