#include "kernels/linalg/triangular_solve.h"

#include <algorithm>

#include "kernels/linalg/loops/elimination.h"
#include "kernels/linalg/loops/matrices.h"

namespace tenon {
namespace {

// The matrices of inputs 0 and 1 for each element of the broadcast batch.
struct System {
  MatrixBatch left, right;
  Shape left_batch, right_batch, batch;
  DType dtype = DType::kInvalid;
  bool lower = true, adjoint = false;
  int threads = 1;

  explicit System(PrepareContext& p)
      : left(BatchOf(p.input_shape(0))),
        right(BatchOf(p.input_shape(1))),
        left_batch(BatchShape(p.input_shape(0))),
        right_batch(BatchShape(p.input_shape(1))),
        batch(BatchShape(p.output_shape(0))),
        dtype(p.input_dtype(0)),
        lower(p.attrs().Bool("lower", true)),
        adjoint(p.attrs().Bool("adjoint", false)),
        threads(p.services().threads) {}

  int64_t count() const { return left.size() == 0 || right.size() == 0 ? 0 : batch.num_elements(); }
  template <typename S>
  Matrix<S> Left(const RunContext& run, int64_t b) const {
    return LoadMatrix<S>(dtype, run.input(0), left, BatchIndex(left_batch, batch, b));
  }
  template <typename S>
  Matrix<S> Right(const RunContext& run, int64_t b) const {
    return LoadMatrix<S>(dtype, run.input(1), right, BatchIndex(right_batch, batch, b));
  }
};

// A, or its adjoint, element by element.
template <typename S>
struct Banded {
  const Matrix<S>& bands;
  bool lower;
  bool adjoint;

  S at(int64_t i, int64_t j) const {
    return adjoint ? Eigen::numext::conj(stored(j, i)) : stored(i, j);
  }
  S stored(int64_t i, int64_t j) const {
    return bands(lower ? i - j : bands.rows() - 1 - (j - i), i);
  }
};

template <typename S>
[[gnu::noinline]] bool SolveBanded(const Banded<S>& a, Matrix<S>& x) {
  const int64_t n = x.rows(), reach = a.bands.rows() - 1;
  const bool down = a.lower != a.adjoint;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = down ? step : n - 1 - step;
    const int64_t first = down ? std::max<int64_t>(0, i - reach) : i + 1;
    const int64_t last = down ? i : std::min(n, i + reach + 1);
    for (int64_t j = first; j < last; ++j) x.row(i) -= a.at(i, j) * x.row(j);
    const S pivot = a.at(i, i);
    if (pivot == S(0)) return false;
    x.row(i) /= pivot;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> TriangularSolve(PrepareContext& p) {
  const System system(p);
  return DispatchType(MatrixScalars{}, MatrixDType(system.dtype), [&]<typename S>() {
    return MakeKernel([system](RunContext& run) {
      const double ns = NsOfMatrix(system.right, 2);
      return ForMatrices(system.threads, system.count(), ns, [&](int64_t b) {
        Matrix<S> m = system.Left<S>(run, b);
        if (system.adjoint) m = m.adjoint().eval();
        Matrix<S> x = system.Right<S>(run, b);
        if (system.lower != system.adjoint) {
          SolveLower(m, Diagonal::kGiven, x);
        } else {
          SolveUpper(m, x);
        }
        StoreMatrix(x, system.dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> BandedTriangularSolve(PrepareContext& p) {
  const System system(p);
  return DispatchType(WideScalars{}, WideDType(system.dtype), [&]<typename S>() {
    return MakeKernel([system](RunContext& run) -> absl::Status {
      const double ns = NsOfMatrix(system.right, 2);
      return ForMatrices(system.threads, system.count(), ns, [&](int64_t b) -> absl::Status {
        const Matrix<S> bands = system.Left<S>(run, b);
        Matrix<S> x = system.Right<S>(run, b);
        if (!SolveBanded(Banded<S>{bands, system.lower, system.adjoint}, x)) {
          return InvalidArgument("the matrix is not invertible");
        }
        StoreMatrix(x, system.dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
