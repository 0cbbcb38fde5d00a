#include "kernels/linalg/lu.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/linalg/loops/elimination.h"
#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/numbers.h"

namespace tenon {
namespace {

// A zero pivot: the matrix has no inverse.
template <typename S>
absl::Status CheckInvertible(const LuFactors<S>& lu) {
  for (int64_t i = 0; i < lu.factors.rows(); ++i) {
    if (lu.factors(i, i) == S(0)) return InvalidArgument("the matrix is not invertible");
  }
  return absl::OkStatus();
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
  RealOf<S> log = 0;
};

template <typename S>
LogDeterminant<S> LogDeterminantOf(Matrix<S> m) {
  LogDeterminant<S> out;
  const LuFactors<S> lu = FactorLu(std::move(m));
  out.sign = S(lu.odd ? -1 : 1);
  for (int64_t i = 0; i < lu.factors.rows(); ++i) {
    const S d = lu.factors(i, i);
    const auto magnitude = std::abs(d);
    if constexpr (kIsComplex<S>) {
      out.sign *= magnitude == 0 ? S(0) : d / magnitude;
    } else {
      out.sign *= magnitude == 0 || std::isnan(d) ? d : std::copysign(S(1), d);
    }
    out.log += std::log(magnitude);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MatrixInverse(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const bool adjoint = p.attrs().Bool("adjoint", false);
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      const double ns = NsOfMatrix(batch, 2);
      return ForMatrices(threads, batch.count, ns, [&](int64_t b) -> absl::Status {
        const LuFactors<S> lu = FactorLu(LoadLeft<S>(run, dtype, batch, b, adjoint));
        TENON_RETURN_IF_ERROR(CheckInvertible(lu));
        StoreMatrix(Inverse(lu), dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixDeterminant(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const double ns = NsOfMatrix(batch, 1);
      return ForMatrices(threads, batch.count, ns, [&](int64_t b) -> absl::Status {
        const auto d = LogDeterminantOf(LoadMatrix<S>(dtype, run.input(0), batch, b));
        const S value = d.sign * S(std::exp(d.log));
        StoreElements(&value, 1, dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> LogMatrixDeterminant(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const double ns = NsOfMatrix(batch, 1);
      return ForMatrices(threads, batch.count, ns, [&](int64_t b) -> absl::Status {
        const auto d = LogDeterminantOf(LoadMatrix<S>(dtype, run.input(0), batch, b));
        const S log = S(d.log);
        StoreElements(&d.sign, 1, dtype, run.output(0), b);
        StoreElements(&log, 1, dtype, run.output(1), b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixSolve(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0)), rhs = BatchOf(p.input_shape(1));
  const bool adjoint = p.attrs().Bool("adjoint", false);
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0 || rhs.size() == 0) return absl::OkStatus();
      const double ns = NsOfMatrix(batch, 1) + NsOfMatrix(rhs, 2);
      return ForMatrices(threads, batch.count, ns, [&](int64_t b) -> absl::Status {
        const LuFactors<S> lu = FactorLu(LoadLeft<S>(run, dtype, batch, b, adjoint));
        TENON_RETURN_IF_ERROR(CheckInvertible(lu));
        const Matrix<S> right = LoadMatrix<S>(dtype, run.input(1), rhs, b);
        StoreMatrix(Solve(lu, right), dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Lu(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0), index = p.output_dtype(1);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      const double ns = NsOfMatrix(batch, 1);
      return ForMatrices(threads, batch.count, ns, [&](int64_t b) -> absl::Status {
        const LuFactors<S> lu = FactorLu(LoadMatrix<S>(dtype, run.input(0), batch, b));
        TENON_RETURN_IF_ERROR(CheckInvertible(lu));
        StoreMatrix(lu.factors, dtype, run.output(0), b);
        VisitTypes(TypeList<int32_t, int64_t>{}, index, [&]<typename I>() {
          I* out = run.output<I>(1) + b * batch.rows;
          std::transform(lu.rows.begin(), lu.rows.end(), out,
                         [](int64_t row) { return static_cast<I>(row); });
        });
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
