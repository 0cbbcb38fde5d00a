#include "kernels/linalg/qr.h"

#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/reflections.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> Qr(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0)), q = BatchOf(p.output_shape(0)),
                    r = BatchOf(p.output_shape(1));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) {
      return ForMatrices(threads, in.count, NsOfMatrix(in, 4), [&](int64_t b) {
        ColumnMatrix<S> columns(in.rows, in.cols), unitary(q.rows, q.cols);
        Matrix<S> out(q.rows, q.cols), upper(r.rows, r.cols);
        unitary.SetIdentity();
        if (in.size() > 0) {
          columns.LoadRows(LoadMatrix<S>(dtype, run.input(0), in, b).data());
          MakeTriangular(columns).Apply(unitary, /*identity=*/true);
          for (int64_t i = 0; i < r.rows; ++i) {
            for (int64_t j = 0; j < r.cols; ++j) upper(i, j) = j < i ? S(0) : columns.at(i, j);
          }
          StoreMatrix(upper, dtype, run.output(1), b);
        }
        unitary.StoreRows(out.data());
        StoreMatrix(out, dtype, run.output(0), b);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace tenon
