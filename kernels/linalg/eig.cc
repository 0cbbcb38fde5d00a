#include "kernels/linalg/eig.h"

#include <Eigen/Eigenvalues>

#include "kernels/linalg/matrices.h"
#include "kernels/linalg/schur.h"

namespace tenon {
namespace {

// Real matrices have a separate solver, which returns conjugate pairs with the positive one first.
template <typename S>
using Solver = std::conditional_t<kIsComplex<S>, Eigen::ComplexEigenSolver<Matrix<S>>,
                                  Eigen::EigenSolver<Eigen::MatrixX<S>>>;

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> Eig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true);
  const DType dtype = p.input_dtype(0), out = p.output_dtype(0);
  const bool wide = dtype == DType::kDouble || dtype == DType::kComplex128;
  const DType expected = wide ? DType::kComplex128 : DType::kComplex64;
  if (out != expected) {
    return InvalidArgument("Tout must be ", Name(expected), ", but is ", Name(out));
  }
  return DispatchType(MatrixScalars{}, MatrixDType(dtype), [&]<typename S>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      if (in.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < in.count; ++b) {
        const Solver<S> eig(LoadMatrix<S>(dtype, run.input(0), in, b), vectors);
        if (eig.info() != Eigen::Success) {
          return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
        }
        const Eigen::VectorX<complex128> values = eig.eigenvalues().template cast<complex128>();
        StoreElements(values.data(), in.rows, out, run.output(0), b * in.rows);
        if (vectors) {
          const Matrix<complex128> columns = eig.eigenvectors().template cast<complex128>();
          StoreMatrix(columns, out, run.output(1), b);
        }
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
