// Eig: eigenvalues and eigenvectors of general matrices, complex.
#include <Eigen/Eigenvalues>

#include "kernels/linalg/systems.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status EigShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_RETURN_IF_ERROR(ExpectSquare(in));
  if (!in.has_rank()) return absl::OkStatus();
  c.set_output(0, WithMatrix(in, {in.dim(in.rank() - 1)}));
  c.set_output(1, c.attrs().Bool("compute_v", true) ? in : Shape({0}));
  return absl::OkStatus();
}

// A real matrix has its own solver, which gives conjugate pairs with the positive one first.
template <typename T>
using Solver = std::conditional_t<kIsComplex<T>, Eigen::ComplexEigenSolver<Matrix<complex128>>,
                                  Eigen::EigenSolver<Matrix<double>>>;

absl::StatusOr<std::unique_ptr<Kernel>> Eig(PrepareContext& p) {
  const MatrixBatch in = BatchOf(p.input_shape(0));
  const bool vectors = p.attrs().Bool("compute_v", true);
  const DType out = p.output_dtype(0);
  return DispatchType(
      TypeList<float, double, complex64, complex128>{}, p.input_dtype(0),
      [&]<typename T>() -> absl::StatusOr<std::unique_ptr<Kernel>> {
        using C = std::complex<typename Eigen::NumTraits<T>::Real>;
        if (out != DTypeTraits<C>::value) {
          return InvalidArgument("Tout must be ", Name(DTypeTraits<C>::value), ", but is ",
                                 Name(out));
        }
        return MakeKernel([=](RunContext& run) -> absl::Status {
          if (in.size() == 0) return absl::OkStatus();
          for (int64_t b = 0; b < in.count; ++b) {
            const Solver<T> eig(LoadWide(run.input<T>(0) + b * in.size(), in.rows, in.cols),
                                vectors);
            if (eig.info() != Eigen::Success) {
              return InvalidArgument("the eigenvalues of matrix ", b, " cannot be found");
            }
            Eigen::Map<Eigen::VectorX<C>>(run.output<C>(0) + b * in.rows, in.rows) =
                eig.eigenvalues().template cast<C>();
            if (vectors)
              StoreMatrix(Matrix<complex128>(eig.eigenvectors()), run.output<C>(1) + b * in.size());
          }
          return absl::OkStatus();
        });
      });
}

const OpRegistration eig_op({
    .name = "Eig",
    .inputs = "input: T",
    .outputs = "e: Tout, v: Tout",
    .attrs = "compute_v: bool = true; T: type; Tout: type",
    .types = "T: float double complex64 complex128; Tout: complex64 complex128",
    .shape = EigShape,
    .reference = Eig,
});

}  // namespace
}  // namespace tenon
