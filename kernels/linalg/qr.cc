#include "kernels/linalg/qr.h"

#include <Eigen/QR>

#include "kernels/linalg/matrices.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> Qr(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0)), q = BatchOf(p.output_shape(0)),
                    r = BatchOf(p.output_shape(1));
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    using M = Matrix<S>;
    return MakeKernel([=](RunContext& run) {
      for (int64_t b = 0; b < in.count; ++b) {
        if (in.size() == 0) {
          StoreMatrix(M(M::Identity(q.rows, q.cols)), dtype, run.output(0), b);
          continue;
        }
        const Eigen::HouseholderQR<M> qr(LoadMatrix<S>(dtype, run.input(0), in, b));
        M unitary = M::Identity(q.rows, q.cols);
        unitary.applyOnTheLeft(qr.householderQ());
        StoreMatrix(unitary, dtype, run.output(0), b);
        const M packed = qr.matrixQR().topRows(r.rows);
        StoreMatrix(M(packed.template triangularView<Eigen::Upper>()), dtype, run.output(1), b);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
