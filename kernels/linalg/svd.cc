#include "kernels/linalg/svd.h"

#include <Eigen/SVD>
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/reflections.h"
#include "kernels/linalg/qr_iterations.h"

namespace tenon {
namespace {

template <typename S>
struct SingularValues {
  std::vector<S> values;
  Matrix<S> u, v;
};

// The columns in that order, in the first rows and columns of a matrix that continues the identity,
// times q.
template <typename S, typename R>
Matrix<S> OrderedColumns(const Reflections<S>& q, const RotatedColumns<R>& from,
                         const std::vector<size_t>& order, int64_t rows, int64_t cols) {
  ColumnMatrix<S> m(rows, cols);
  m.SetIdentity();
  const auto n = static_cast<int64_t>(order.size());
  for (int64_t k = 0; k < n; ++k) {
    const R* const column = from.column(order[static_cast<size_t>(k)]);
    std::transform(column, column + n, m.column(k), [](R v) { return S(v); });
  }
  q.Apply(m);
  Matrix<S> out(rows, cols);
  m.StoreRows(out.data());
  return out;
}

// Of a finite matrix, or, if `adjoint`, of its conjugate transpose, so that it is not wider than
// high; u has `u_cols` columns. Nothing: no convergence.
template <typename S>
std::optional<SingularValues<S>> Decompose(const Matrix<S>& a, bool adjoint, bool vectors,
                                           int64_t u_cols) {
  using R = RealOf<S>;
  const int64_t rows = adjoint ? a.cols() : a.rows(), n = adjoint ? a.rows() : a.cols();
  const R largest = a.cwiseAbs().maxCoeff(), scale = largest > 0 ? largest : R(1);
  ColumnMatrix<S> m(rows, n);
  m.LoadRows(Matrix<S>(a / S(scale)).data(), adjoint);
  const BidiagonalForm<S> form = MakeBidiagonal(m);
  std::vector<double> d(form.diagonal.begin(), form.diagonal.end());
  std::vector<double> e(form.above.begin(), form.above.end());
  std::optional<RotatedColumns<R>> left, right;
  if (vectors) {
    left.emplace(n);
    right.emplace(n);
  }
  if (!DiagonalizeBidiagonal<R>(d, e, vectors ? &*left : nullptr, vectors ? &*right : nullptr)) {
    return std::nullopt;
  }
  std::vector<size_t> order(d.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return d[i] > d[j]; });
  SingularValues<S> out;
  for (size_t k : order) out.values.push_back(S(static_cast<R>(d[k]) * scale));
  if (vectors) {
    out.u = OrderedColumns(form.u, *left, order, rows, u_cols);
    out.v = OrderedColumns(form.v, *right, order, n, n);
  }
  return out;
}

// Of a small finite matrix: by the algorithm that TensorFlow uses for few columns, so that singular
// vectors have the same signs. It is computed in W, double or complex128.
template <typename S>
SingularValues<S> DecomposeSmall(const Matrix<S>& a, bool vectors, bool full) {
  using W = std::conditional_t<kIsComplex<S>, complex128, double>;
  unsigned options = 0;
  if (vectors) {
    options = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                   : Eigen::ComputeThinU | Eigen::ComputeThinV;
  }
  const Eigen::JacobiSVD<Eigen::MatrixX<W>> svd(a.template cast<W>(), options);
  SingularValues<S> out;
  for (double value : svd.singularValues()) out.values.push_back(S(static_cast<RealOf<S>>(value)));
  if (vectors) {
    out.u = svd.matrixU().template cast<S>();
    out.v = svd.matrixV().template cast<S>();
  }
  return out;
}

// Of any matrix. All is NaN if it is not finite.
template <typename S>
SingularValues<S> DecomposeAny(const Matrix<S>& a, bool vectors, bool full) {
  constexpr int64_t kLeastSize = 16;
  const int64_t rows = a.rows(), cols = a.cols(), values = std::min(rows, cols);
  const int64_t u_cols = full ? rows : values, v_cols = full ? cols : values;
  if (a.allFinite()) {
    if (values < kLeastSize) return DecomposeSmall<S>(a, vectors, full);
    const bool wide = rows < cols;
    auto found = Decompose<S>(a, wide, vectors, wide ? v_cols : u_cols);
    if (found.has_value()) {
      if (wide) found->u.swap(found->v);
      return *std::move(found);
    }
  }
  const S nan = std::numeric_limits<RealOf<S>>::quiet_NaN();
  return {std::vector<S>(static_cast<size_t>(values), nan), Matrix<S>::Constant(rows, u_cols, nan),
          Matrix<S>::Constant(cols, v_cols, nan)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Svd(PrepareContext& p, SvdForm form) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const int64_t values = std::min(in.rows, in.cols);
  const bool vectors = form.vectors, full = form.full;
  const int64_t u_cols = full ? in.rows : values, v_cols = full ? in.cols : values;
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    using M = Matrix<S>;
    return MakeKernel([=](RunContext& run) {
      return ForMatrices(threads, in.count, NsOfMatrix(in, 20), [&](int64_t b) {
        M u = M::Identity(in.rows, u_cols), v = M::Identity(in.cols, v_cols);
        if (in.size() > 0) {
          const auto found =
              DecomposeAny<S>(LoadMatrix<S>(dtype, run.input(0), in, b), vectors, full);
          StoreElements(found.values.data(), values, dtype, run.output(0), b * values);
          if (vectors) {
            u = found.u;
            v = found.v;
          }
        }
        if (vectors) {
          StoreMatrix(u, dtype, run.output(1), b);
          StoreMatrix(v, dtype, run.output(2), b);
        }
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
