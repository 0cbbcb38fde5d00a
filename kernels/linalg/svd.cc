#include "kernels/linalg/svd.h"

#include <Eigen/SVD>
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels/linalg/matrices.h"
#include "kernels/linalg/qr_iterations.h"

namespace tenon {
namespace {

template <typename S>
struct SingularValues {
  Eigen::VectorX<S> values;
  Eigen::MatrixX<S> u, v;
};

// The columns in that order, in the first rows and columns of a matrix that continues the identity.
template <typename S, typename R>
Eigen::MatrixX<S> Extended(const RotatedColumns<R>& from, const std::vector<size_t>& order,
                           int64_t rows, int64_t cols) {
  Eigen::MatrixX<S> m = Eigen::MatrixX<S>::Identity(rows, cols);
  const auto n = static_cast<int64_t>(order.size());
  for (int64_t k = 0; k < n; ++k) {
    const R* const column = from.column(order[static_cast<size_t>(k)]);
    m.col(k).head(n) = Eigen::Map<const Eigen::VectorX<R>>(column, n).template cast<S>();
  }
  return m;
}

// Of a finite matrix that is not wider than high; u has `u_cols` columns. Nothing: no convergence.
template <typename S>
std::optional<SingularValues<S>> Decompose(const Eigen::MatrixX<S>& a, bool vectors,
                                           int64_t u_cols) {
  using R = typename Eigen::NumTraits<S>::Real;
  const R largest = a.cwiseAbs().maxCoeff(), scale = largest > 0 ? largest : R(1);
  Eigen::internal::UpperBidiagonalization<Eigen::MatrixX<S>> bidiagonal(a / S(scale));
  const Eigen::MatrixX<R> b = bidiagonal.bidiagonal().toDenseMatrix();
  const int64_t n = a.cols();
  std::vector<double> d, e;
  for (int64_t k = 0; k < n; ++k) {
    d.push_back(static_cast<double>(b(k, k)));
    if (k + 1 < n) e.push_back(static_cast<double>(b(k, k + 1)));
  }
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
  out.values.resize(n);
  for (int64_t k = 0; k < n; ++k) {
    out.values[k] = S(static_cast<R>(d[order[static_cast<size_t>(k)]]) * scale);
  }
  if (vectors) {
    out.u = Extended<S>(*left, order, a.rows(), u_cols);
    out.u.applyOnTheLeft(bidiagonal.householderU());
    out.v = Extended<S>(*right, order, n, n);
    out.v.applyOnTheLeft(bidiagonal.householderV());
  }
  return out;
}

// Of a small finite matrix: by the algorithm that TensorFlow uses for few columns, so that singular
// vectors have the same signs. It is computed in W, double or complex128.
template <typename S>
SingularValues<S> DecomposeSmall(const Eigen::MatrixX<S>& a, bool vectors, bool full) {
  using W = std::conditional_t<kIsComplex<S>, complex128, double>;
  unsigned options = 0;
  if (vectors) {
    options = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                   : Eigen::ComputeThinU | Eigen::ComputeThinV;
  }
  const Eigen::JacobiSVD<Eigen::MatrixX<W>> svd(a.template cast<W>(), options);
  SingularValues<S> out;
  out.values = svd.singularValues().template cast<W>().template cast<S>();
  if (vectors) {
    out.u = svd.matrixU().template cast<S>();
    out.v = svd.matrixV().template cast<S>();
  }
  return out;
}

// Of any matrix. All is NaN if it is not finite.
template <typename S>
SingularValues<S> DecomposeAny(const Eigen::MatrixX<S>& a, bool vectors, bool full) {
  constexpr int64_t kLeastSize = 16;
  const int64_t rows = a.rows(), cols = a.cols(), values = std::min(rows, cols);
  const int64_t u_cols = full ? rows : values, v_cols = full ? cols : values;
  if (a.allFinite()) {
    if (values < kLeastSize) return DecomposeSmall<S>(a, vectors, full);
    const bool wide = rows < cols;
    auto found =
        wide ? Decompose<S>(a.adjoint(), vectors, v_cols) : Decompose<S>(a, vectors, u_cols);
    if (found.has_value()) {
      if (wide) found->u.swap(found->v);
      return *std::move(found);
    }
  }
  const S nan = std::numeric_limits<typename Eigen::NumTraits<S>::Real>::quiet_NaN();
  return {Eigen::VectorX<S>::Constant(values, nan), Eigen::MatrixX<S>::Constant(rows, u_cols, nan),
          Eigen::MatrixX<S>::Constant(cols, v_cols, nan)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Svd(PrepareContext& p, SvdForm form) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const int64_t values = std::min(in.rows, in.cols);
  const bool vectors = form.vectors, full = form.full;
  const int64_t u_cols = full ? in.rows : values, v_cols = full ? in.cols : values;
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    using M = Matrix<S>;
    return MakeKernel([=](RunContext& run) {
      for (int64_t b = 0; b < in.count; ++b) {
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
        if (!vectors) continue;
        StoreMatrix(u, dtype, run.output(1), b);
        StoreMatrix(v, dtype, run.output(2), b);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
