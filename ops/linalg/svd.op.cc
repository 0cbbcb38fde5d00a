// Svd: U diag(s) V^H = A, singular values falling. Computed in double.
#include <Eigen/SVD>

#include "kernels/linalg/matrices.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SvdShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  if (!in.has_rank()) return absl::OkStatus();
  const int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1);
  const int64_t p = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.attrs().Bool("full_matrices", false);
  c.set_output(0, WithMatrix(in, {p}));
  if (!c.attrs().Bool("compute_uv", true)) {
    c.set_output(1, Shape({0}));
    c.set_output(2, Shape({0}));
    return absl::OkStatus();
  }
  c.set_output(1, WithMatrix(in, {m, full ? m : p}));
  c.set_output(2, WithMatrix(in, {n, full ? n : p}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Svd(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const int64_t values = std::min(in.rows, in.cols);
  const bool vectors = p.attrs().Bool("compute_uv", true);
  const bool full = p.attrs().Bool("full_matrices", false);
  const int64_t u_cols = full ? in.rows : values, v_cols = full ? in.cols : values;
  return DispatchType(
      TypeList<float, double, complex64, complex128>{}, p.input_dtype(0), [&]<typename T>() {
        using C = std::conditional_t<kIsComplex<T>, complex128, double>;
        using M = Matrix<C>;
        return MakeKernel([=](RunContext& run) {
          unsigned options = 0;
          if (vectors) {
            options = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                           : Eigen::ComputeThinU | Eigen::ComputeThinV;
          }
          for (int64_t b = 0; b < in.count; ++b) {
            M u = M::Identity(in.rows, u_cols), v = M::Identity(in.cols, v_cols);
            if (in.size() > 0) {
              const M matrix =
                  LoadMatrix(run.input<T>(0) + b * in.size(), in.rows, in.cols).template cast<C>();
              const Eigen::JacobiSVD<Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic>> svd(matrix,
                                                                                           options);
              for (int64_t i = 0; i < values; ++i) {
                run.output<T>(0)[b * values + i] = static_cast<T>(svd.singularValues()(i));
              }
              if (vectors) {
                u = svd.matrixU();
                v = svd.matrixV();
              }
            }
            if (!vectors) continue;
            StoreMatrix(u, run.output<T>(1) + b * u.size());
            StoreMatrix(v, run.output<T>(2) + b * v.size());
          }
          return absl::OkStatus();
        });
      });
}

const OpRegistration svd_op({
    .name = "Svd",
    .inputs = "input: T",
    .outputs = "s: T, u: T, v: T",
    .attrs = "compute_uv: bool = true; full_matrices: bool = false; T: type",
    .types = "T: double float complex64 complex128",
    .shape = SvdShape,
    .reference = Svd,
});

const OpRegistration batch_svd_op({
    .name = "BatchSvd",
    .inputs = "input: T",
    .outputs = "s: T, u: T, v: T",
    .attrs = "compute_uv: bool = true; full_matrices: bool = false; T: type",
    .types = "T: double float complex64 complex128",
    .shape = SvdShape,
    .reference = Svd,
});

}  // namespace
}  // namespace tenon
