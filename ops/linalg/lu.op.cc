// MatrixInverse, MatrixDeterminant, LogMatrixDeterminant, MatrixSolve, Lu: what an LU decomposition
// with partial pivoting gives.
#include <Eigen/LU>
#include <cmath>

#include "kernels/linalg/matrices.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <typename T>
using PartialLu = Eigen::PartialPivLU<Matrix<ComputeType<T>>>;

// A zero pivot: the matrix has no inverse.
template <typename Lu>
absl::Status CheckInvertible(const Lu& lu) {
  using Real = typename Lu::RealScalar;
  const Real least = lu.matrixLU().diagonal().cwiseAbs().minCoeff();
  if (least > Real(0) || std::isnan(least)) return absl::OkStatus();
  return InvalidArgument("the matrix is not invertible");
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixInverse(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const bool adjoint = p.attrs().Bool("adjoint", false);
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([batch, adjoint](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        Matrix<ComputeType<T>> m =
            LoadMatrix(run.input<T>(0) + b * batch.size(), batch.rows, batch.cols);
        if (adjoint) m = m.adjoint().eval();
        const PartialLu<T> lu(m);
        TENON_RETURN_IF_ERROR(CheckInvertible(lu));
        const Matrix<ComputeType<T>> inverse = lu.inverse();
        StoreMatrix(inverse, run.output<T>(0) + b * batch.size());
      }
      return absl::OkStatus();
    });
  });
}

absl::Status DeterminantShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSquare(c.input(0)));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, WithMatrix(c.input(0), {}));
  return absl::OkStatus();
}

// The determinant as a sign (of magnitude 1, or 0) and the logarithm of its magnitude.
template <typename C>
struct LogDeterminant {
  C sign = C(1);
  typename Eigen::NumTraits<C>::Real log = 0;
};

template <typename T>
LogDeterminant<ComputeType<T>> LogDeterminantOf(const T* data, int64_t n) {
  using C = ComputeType<T>;
  LogDeterminant<C> out;
  if (n == 0) return out;
  const PartialLu<T> lu(LoadMatrix(data, n, n));
  out.sign = C(lu.permutationP().determinant());
  for (int64_t i = 0; i < n; ++i) {
    const C d = lu.matrixLU()(i, i);
    const auto magnitude = std::abs(d);
    out.sign *= magnitude == 0 ? C(0) : d / magnitude;
    out.log += std::log(magnitude);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> Determinant(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([batch](RunContext& run) -> absl::Status {
      for (int64_t b = 0; b < batch.count; ++b) {
        using C = ComputeType<T>;
        const auto d = LogDeterminantOf(run.input<T>(0) + b * batch.size(), batch.rows);
        run.output<T>(0)[b] = static_cast<T>(d.sign * C(std::exp(d.log)));
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> LogMatrixDeterminant(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([batch](RunContext& run) -> absl::Status {
      for (int64_t b = 0; b < batch.count; ++b) {
        const auto d = LogDeterminantOf(run.input<T>(0) + b * batch.size(), batch.rows);
        run.output<T>(0)[b] = static_cast<T>(d.sign);
        run.output<T>(1)[b] = static_cast<T>(d.log);
      }
      return absl::OkStatus();
    });
  });
}

absl::Status SolveShape(ShapeContext& c) {
  const Shape& m = c.input(0);
  const Shape& rhs = c.input(1);
  TENON_RETURN_IF_ERROR(ExpectSquare(m));
  TENON_RETURN_IF_ERROR(ExpectMatrices(rhs));
  c.set_output(0, rhs);
  if (!m.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  if (!WithMatrix(m, {}).CompatibleWith(WithMatrix(rhs, {})) ||
      !Shape({m.dim(m.rank() - 1)}).CompatibleWith(Shape({rhs.dim(rhs.rank() - 2)}))) {
    return InvalidArgument("a right-hand side of shape ", rhs.ToString(), " for matrices of shape ",
                           m.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixSolve(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0)), rhs = BatchOf(p.input_shape(1));
  const bool adjoint = p.attrs().Bool("adjoint", false);
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (batch.size() == 0 || rhs.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        Matrix<ComputeType<T>> m =
            LoadMatrix(run.input<T>(0) + b * batch.size(), batch.rows, batch.cols);
        if (adjoint) m = m.adjoint().eval();
        const PartialLu<T> lu(m);
        TENON_RETURN_IF_ERROR(CheckInvertible(lu));
        const Matrix<ComputeType<T>> x =
            lu.solve(LoadMatrix(run.input<T>(1) + b * rhs.size(), rhs.rows, rhs.cols));
        StoreMatrix(x, run.output<T>(0) + b * rhs.size());
      }
      return absl::OkStatus();
    });
  });
}

absl::Status LuShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(SquareToSquareShape(c));
  const Shape& in = c.input(0);
  if (in.has_rank()) c.set_output(1, WithMatrix(in, {in.dim(in.rank() - 1)}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Lu(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType index = p.output_dtype(1);
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([batch, index](RunContext& run) -> absl::Status {
      if (batch.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.count; ++b) {
        const PartialLu<T> lu(
            LoadMatrix(run.input<T>(0) + b * batch.size(), batch.rows, batch.cols));
        TENON_RETURN_IF_ERROR(CheckInvertible(lu));
        StoreMatrix(lu.matrixLU(), run.output<T>(0) + b * batch.size());
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

const OpRegistration matrix_inverse_op({
    .name = "MatrixInverse",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixInverse,
});

const OpRegistration batch_matrix_inverse_op({
    .name = "BatchMatrixInverse",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float",
    .shape = SquareToSquareShape,
    .reference = MatrixInverse,
});

const OpRegistration matrix_determinant_op({
    .name = "MatrixDeterminant",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half float double complex64 complex128",
    .shape = DeterminantShape,
    .reference = Determinant,
});

const OpRegistration batch_matrix_determinant_op({
    .name = "BatchMatrixDeterminant",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double complex64 complex128",
    .shape = DeterminantShape,
    .reference = Determinant,
});

const OpRegistration log_matrix_determinant_op({
    .name = "LogMatrixDeterminant",
    .inputs = "input: T",
    .outputs = "sign: T, log_abs_determinant: T",
    .attrs = "T: type",
    .types = "T: half float double complex64 complex128",
    .shape = DeterminantShape,
    .reference = LogMatrixDeterminant,
});

const OpRegistration matrix_solve_op({
    .name = "MatrixSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SolveShape,
    .reference = MatrixSolve,
});

const OpRegistration batch_matrix_solve_op({
    .name = "BatchMatrixSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "adjoint: bool = false; T: type",
    .types = "T: double float",
    .shape = SolveShape,
    .reference = MatrixSolve,
});

const OpRegistration lu_op({
    .name = "Lu",
    .inputs = "input: T",
    .outputs = "lu: T, p: output_idx_type",
    .attrs = "T: type; output_idx_type: type = int32",
    .types = "T: double float half complex64 complex128; output_idx_type: int32 int64",
    .shape = LuShape,
    .reference = Lu,
});

}  // namespace
}  // namespace tenon
