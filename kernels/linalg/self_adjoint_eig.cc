#include "kernels/linalg/self_adjoint_eig.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/reflections.h"
#include "kernels/linalg/qr_iterations.h"

namespace tenon {
namespace {

template <typename S>
struct SelfAdjointValues {
  std::vector<S> values;  // increasing
  Matrix<S> vectors;
};

// Of the matrix whose lower triangle is given, or with `adjoint` the upper one; the rest is 0.
// Nothing: no convergence.
template <typename S>
std::optional<SelfAdjointValues<S>> EigenvaluesOf(const Matrix<S>& triangle, bool adjoint,
                                                  bool vectors) {
  using R = RealOf<S>;
  const int64_t n = triangle.rows();
  if (n == 1) {
    return SelfAdjointValues<S>{{S(std::real(triangle(0, 0)))}, Matrix<S>::Identity(1, 1)};
  }
  if (!triangle.allFinite()) return std::nullopt;
  const R largest = triangle.cwiseAbs().maxCoeff(), scale = largest > 0 ? largest : R(1);
  ColumnMatrix<S> m(n, n);
  m.LoadRows(Matrix<S>(triangle / S(scale)).data(), adjoint);
  const TridiagonalForm<S> form = MakeTridiagonal(m);
  std::vector<double> d(form.diagonal.begin(), form.diagonal.end());
  std::vector<double> e(form.beside.begin(), form.beside.end());
  std::optional<RotatedColumns<R>> q;
  if (vectors) q.emplace(n);
  if (!DiagonalizeTridiagonal<R>(d, e, vectors ? &*q : nullptr)) return std::nullopt;
  std::vector<size_t> order(d.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return d[i] < d[j]; });
  SelfAdjointValues<S> out;
  for (size_t k : order) out.values.push_back(S(static_cast<R>(d[k]) * scale));
  if (!vectors) return out;
  for (int64_t k = 0; k < n; ++k) {
    const R* const column = q->column(order[static_cast<size_t>(k)]);
    std::transform(column, column + n, m.column(k), [](R v) { return S(v); });
  }
  form.q.Apply(m);
  out.vectors.resize(n, n);
  m.StoreRows(out.vectors.data());
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SelfAdjointEig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true), joined = p.num_outputs() == 1;
  const bool lower = p.attrs().Bool("lower", true);
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (in.size() == 0) return absl::OkStatus();
      const double ns = NsOfMatrix(in, 9);
      return ForMatrices(threads, in.count, ns, [&](int64_t b) -> absl::Status {
        Matrix<S> matrix = LoadMatrix<S>(dtype, run.input(0), in, b);
        for (int64_t i = 0; i < in.rows; ++i) {
          const int64_t begin = lower ? i + 1 : 0, end = lower ? in.rows : i;
          std::fill(&matrix(i, 0) + begin, &matrix(i, 0) + end, S(0));
          matrix(i, i) = S(std::real(matrix(i, i)));
        }
        const auto eig = EigenvaluesOf(matrix, !lower, vectors);
        if (!eig.has_value()) {
          return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
        }
        if (joined) {
          const int64_t at = b * (in.rows + 1) * in.rows;
          StoreElements(eig->values.data(), in.rows, dtype, run.output(0), at);
          StoreElements(eig->vectors.data(), in.size(), dtype, run.output(0), at + in.rows);
          return absl::OkStatus();
        }
        StoreElements(eig->values.data(), in.rows, dtype, run.output(0), b * in.rows);
        if (vectors) StoreMatrix(eig->vectors, dtype, run.output(1), b);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
