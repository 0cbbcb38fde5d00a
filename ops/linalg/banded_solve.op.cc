// BandedTriangularSolve: X with A X = B for a triangular A of a few diagonals. Row k of `matrix`
// holds a diagonal, column i what row i of A has of it: the main one first where A is lower, last
// where it is upper.
#include "kernels/elementwise/reference_broadcast.h"
#include "kernels/linalg/systems.h"
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

// A, or its adjoint, element by element.
template <typename T>
struct Banded {
  const Matrix<T>& bands;
  bool lower;
  bool adjoint;

  T at(int64_t i, int64_t j) const {
    return adjoint ? Eigen::numext::conj(stored(j, i)) : stored(i, j);
  }
  T stored(int64_t i, int64_t j) const {
    return bands(lower ? i - j : bands.rows() - 1 - (j - i), i);
  }
};

template <typename T>
[[gnu::noinline]] bool Solve(const Banded<T>& a, Matrix<T>& x) {
  const int64_t n = x.rows(), reach = a.bands.rows() - 1;
  const bool down = a.lower != a.adjoint;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = down ? step : n - 1 - step;
    const int64_t first = down ? std::max<int64_t>(0, i - reach) : i + 1;
    const int64_t last = down ? i : std::min(n, i + reach + 1);
    for (int64_t j = first; j < last; ++j) x.row(i) -= a.at(i, j) * x.row(j);
    const T pivot = a.at(i, i);
    if (pivot == T(0)) return false;
    x.row(i) /= pivot;
  }
  return true;
}

absl::StatusOr<std::unique_ptr<Kernel>> BandedSolve(PrepareContext& p) {
  const MatrixBatch left = BatchOf(p.input_shape(0)), right = BatchOf(p.input_shape(1));
  const Shape left_batch = WithMatrix(p.input_shape(0), {});
  const Shape right_batch = WithMatrix(p.input_shape(1), {});
  const Shape batch = WithMatrix(p.output_shape(0), {});
  const bool lower = p.attrs().Bool("lower", true), adjoint = p.attrs().Bool("adjoint", false);
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    using C = WideType<T>;
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (left.size() == 0 || right.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < batch.num_elements(); ++b) {
        const Matrix<C> bands = LoadWide(
            run.input<T>(0) + BatchIndex(left_batch, batch, b) * left.size(), left.rows, left.cols);
        Matrix<C> x = LoadWide(run.input<T>(1) + BatchIndex(right_batch, batch, b) * right.size(),
                               right.rows, right.cols);
        if (!Solve(Banded<C>{bands, lower, adjoint}, x)) {
          return InvalidArgument("the matrix is not invertible");
        }
        StoreMatrix(x, run.output<T>(0) + b * right.size());
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration banded_triangular_solve_op({
    .name = "BandedTriangularSolve",
    .inputs = "matrix: T, rhs: T",
    .outputs = "output: T",
    .attrs = "lower: bool = true; adjoint: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = BandedShape,
    .reference = BandedSolve,
});

}  // namespace
}  // namespace tenon
