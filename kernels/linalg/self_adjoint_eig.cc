#include "kernels/linalg/self_adjoint_eig.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/linalg/matrices.h"
#include "kernels/linalg/qr_iterations.h"

namespace tenon {
namespace {

template <typename S>
struct SelfAdjointValues {
  Eigen::VectorX<S> values;  // increasing
  Eigen::MatrixX<S> vectors;
};

// Of the matrix whose lower triangle is given; the rest is 0. Nothing: no convergence.
template <typename S>
std::optional<SelfAdjointValues<S>> EigenvaluesOf(const Eigen::MatrixX<S>& lower, bool vectors) {
  using R = typename Eigen::NumTraits<S>::Real;
  const int64_t n = lower.rows();
  if (n == 1) {
    return SelfAdjointValues<S>{Eigen::VectorX<S>::Constant(1, S(Eigen::numext::real(lower(0, 0)))),
                                Eigen::MatrixX<S>::Identity(1, 1)};
  }
  if (!lower.allFinite()) return std::nullopt;
  const R largest = lower.cwiseAbs().maxCoeff(), scale = largest > 0 ? largest : R(1);
  const Eigen::Tridiagonalization<Eigen::MatrixX<S>> tridiagonal(lower / S(scale));
  const Eigen::VectorXd diagonal = tridiagonal.diagonal().template cast<double>();
  const Eigen::VectorXd beside = tridiagonal.subDiagonal().template cast<double>();
  std::vector<double> d(diagonal.begin(), diagonal.end()), e(beside.begin(), beside.end());
  std::optional<RotatedColumns<R>> q;
  if (vectors) q.emplace(n);
  if (!DiagonalizeTridiagonal<R>(d, e, vectors ? &*q : nullptr)) return std::nullopt;
  std::vector<size_t> order(d.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return d[i] < d[j]; });
  SelfAdjointValues<S> out;
  out.values.resize(n);
  if (vectors) out.vectors.resize(n, n);
  for (int64_t k = 0; k < n; ++k) {
    const size_t at = order[static_cast<size_t>(k)];
    out.values[k] = S(static_cast<R>(d[at]) * scale);
    if (!vectors) continue;
    out.vectors.col(k) = Eigen::Map<const Eigen::VectorX<R>>(q->column(at), n).template cast<S>();
  }
  if (vectors) out.vectors.applyOnTheLeft(tridiagonal.matrixQ());
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SelfAdjointEig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true), joined = p.num_outputs() == 1;
  const bool lower = p.attrs().Bool("lower", true);
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (in.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < in.count; ++b) {
        Matrix<S> matrix = LoadMatrix<S>(dtype, run.input(0), in, b);
        if (!lower) matrix.adjointInPlace();
        const auto eig = EigenvaluesOf<S>(matrix.template triangularView<Eigen::Lower>(), vectors);
        if (!eig.has_value()) {
          return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
        }
        if (joined) {
          Matrix<S> both(in.rows + 1, in.rows);
          both << eig->values.transpose(), eig->vectors;
          StoreMatrix(both, dtype, run.output(0), b);
          continue;
        }
        StoreElements(eig->values.data(), in.rows, dtype, run.output(0), b * in.rows);
        if (vectors) StoreMatrix(Matrix<S>(eig->vectors), dtype, run.output(1), b);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
