// Qr: Q R = A with orthonormal columns of Q and upper triangular R, by Householder reflections.
#include <Eigen/QR>

#include "kernels/linalg/matrices.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status QrShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  if (!in.has_rank()) return absl::OkStatus();
  const int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1);
  const int64_t p = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.attrs().Bool("full_matrices", false);
  c.set_output(0, WithMatrix(in, {m, full ? m : p}));
  c.set_output(1, WithMatrix(in, {full ? m : p, n}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Qr(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0)), q = BatchOf(p.output_shape(0)),
                    r = BatchOf(p.output_shape(1));
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() {
    using M = Matrix<ComputeType<T>>;
    return MakeKernel([=](RunContext& run) {
      for (int64_t b = 0; b < in.count; ++b) {
        T* q_out = run.output<T>(0) + b * q.size();
        if (in.size() == 0) {
          StoreMatrix(M::Identity(q.rows, q.cols), q_out);
          continue;
        }
        const Eigen::HouseholderQR<M> qr(
            LoadMatrix(run.input<T>(0) + b * in.size(), in.rows, in.cols));
        StoreMatrix(M(qr.householderQ() * M::Identity(q.rows, q.cols)), q_out);
        const M packed = qr.matrixQR().topRows(r.rows);
        StoreMatrix(M(packed.template triangularView<Eigen::Upper>()),
                    run.output<T>(1) + b * r.size());
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration qr_op({
    .name = "Qr",
    .inputs = "input: T",
    .outputs = "q: T, r: T",
    .attrs = "full_matrices: bool = false; T: type",
    .types = "T: double float half complex64 complex128",
    .shape = QrShape,
    .reference = Qr,
});

}  // namespace
}  // namespace tenon
