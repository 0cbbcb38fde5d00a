#include "kernels/linalg/svd.h"

#include <Eigen/SVD>
#include <limits>

#include "kernels/linalg/matrices.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> Svd(PrepareContext& p, SvdForm form) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const int64_t values = std::min(in.rows, in.cols);
  const bool vectors = form.vectors, full = form.full;
  const int64_t u_cols = full ? in.rows : values, v_cols = full ? in.cols : values;
  const DType dtype = p.input_dtype(0);
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    using M = Matrix<S>;
    return MakeKernel([=](RunContext& run) {
      unsigned options = 0;
      if (vectors) {
        options = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                       : Eigen::ComputeThinU | Eigen::ComputeThinV;
      }
      for (int64_t b = 0; b < in.count; ++b) {
        M u = M::Identity(in.rows, u_cols), v = M::Identity(in.cols, v_cols);
        if (in.size() > 0) {
          const Eigen::BDCSVD<Eigen::MatrixX<S>> svd(LoadMatrix<S>(dtype, run.input(0), in, b),
                                                     options);
          const bool finite = svd.info() == Eigen::Success;
          const S nan = std::numeric_limits<typename Eigen::NumTraits<S>::Real>::quiet_NaN();
          Eigen::VectorX<S> s = Eigen::VectorX<S>::Constant(values, nan);
          if (finite) s = svd.singularValues().template cast<S>();
          StoreElements(s.data(), values, dtype, run.output(0), b * values);
          if (vectors && finite) {
            u = svd.matrixU();
            v = svd.matrixV();
          } else if (vectors) {
            u.fill(nan);
            v.fill(nan);
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
