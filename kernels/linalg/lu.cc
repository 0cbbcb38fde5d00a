#include "kernels/linalg/lu.h"

#include <Eigen/LU>
#include <cmath>

#include "kernels/linalg/matrices.h"

namespace tenon {
namespace {

template <typename S>
using PartialLu = Eigen::PartialPivLU<Matrix<S>>;

// A zero pivot: the matrix has no inverse.
template <typename S>
absl::Status CheckInvertible(const PartialLu<S>& lu) {
  using Real = typename PartialLu<S>::RealScalar;
  const Real least = lu.matrixLU().diagonal().cwiseAbs().minCoeff();
  if (least > Real(0) || std::isnan(least)) return absl::OkStatus();
  return InvalidArgument("the matrix is not invertible");
}

// Matrix `index` of input 0, or its conjugate transpose.
template <typename S>
Matrix<S> LoadLeft(const RunContext& run, DType dtype, const MatrixBatch& batch, int64_t index,
                   bool adjoint) {
  Matrix<S> m = LoadMatrix<S>(dtype, run.input(0), batch, index);
  if (adjoint) m = m.adjoint().eval();
  return m;
}

template <typename S>
struct LogDeterminant {
  S sign = S(1);  // with magnitude 1, or 0
  typename Eigen::NumTraits<S>::Real log = 0;
};

template <typename S>
LogDeterminant<S> LogDeterminantOf(const Matrix<S>& m) {
  LogDeterminant<S> out;
  if (m.rows() == 0) return out;
  const PartialLu<S> lu(m);
  out.sign = S(lu.permutationP().determinant());
  for (int64_t i = 0; i < m.rows(); ++i) {
    const S d = lu.matrixLU()(i, i);
    const auto magnitude = std::abs(d);
    out.sign *= magnitude == 0 ? S(0) : d / magnitude;
    out.log += std::log(magnitude);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MatrixInverse(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const bool adjoint = p.attrs().Bool("adjoint", false);
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const PartialLu<S> lu(LoadLeft<S>(run, dtype, batch, b, adjoint));
        TENON_RETURN_IF_ERROR(CheckInvertible<S>(lu));
        StoreMatrix(Matrix<S>(lu.inverse()), dtype, run.output(0), b);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixDeterminant(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      for (int64_t b = 0; b < batch.count; ++b) {
        const auto d = LogDeterminantOf(LoadMatrix<S>(dtype, run.input(0), batch, b));
        const S value = d.sign * S(std::exp(d.log));
        StoreElements(&value, 1, dtype, run.output(0), b);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> LogMatrixDeterminant(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      for (int64_t b = 0; b < batch.count; ++b) {
        const auto d = LogDeterminantOf(LoadMatrix<S>(dtype, run.input(0), batch, b));
        const S log = S(d.log);
        StoreElements(&d.sign, 1, dtype, run.output(0), b);
        StoreElements(&log, 1, dtype, run.output(1), b);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixSolve(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0)), rhs = BatchOf(p.input_shape(1));
  const bool adjoint = p.attrs().Bool("adjoint", false);
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0 || rhs.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const PartialLu<S> lu(LoadLeft<S>(run, dtype, batch, b, adjoint));
        TENON_RETURN_IF_ERROR(CheckInvertible<S>(lu));
        const Matrix<S> x = lu.solve(LoadMatrix<S>(dtype, run.input(1), rhs, b));
        StoreMatrix(x, dtype, run.output(0), b);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Lu(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0), index = p.output_dtype(1);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const PartialLu<S> lu(LoadMatrix<S>(dtype, run.input(0), batch, b));
        TENON_RETURN_IF_ERROR(CheckInvertible<S>(lu));
        StoreMatrix(lu.matrixLU(), dtype, run.output(0), b);
        // Row i of the permuted matrix is row p[i] of the input.
        const Eigen::PermutationMatrix<Eigen::Dynamic> inverse = lu.permutationP().inverse();
        VisitTypes(TypeList<int32_t, int64_t>{}, index, [&]<typename I>() {
          I* out = run.output<I>(1) + b * batch.rows;
          for (int64_t i = 0; i < batch.rows; ++i) {
            out[i] = static_cast<I>(inverse.indices()(i));
          }
        });
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
