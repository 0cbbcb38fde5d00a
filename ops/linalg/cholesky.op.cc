// Cholesky: the lower triangular L with L L^H = A, from A's lower triangle; NaN if A is not
// positive definite. CholeskyGrad: A's gradient from L's.
#include "kernels/linalg/loops/cholesky.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSquare(c.input(1)));
  if (!c.input(0).CompatibleWith(c.input(1))) {
    return InvalidArgument("a gradient of shape ", c.input(1).ToString(), " for l of shape ",
                           c.input(0).ToString());
  }
  return SquareToSquareShape(c);
}

const OpRegistration cholesky_grad_op({
    .name = "CholeskyGrad",
    .inputs = "l: T, grad: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half float double",
    .shape = GradShape,
    .reference = CholeskyGrad,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_cholesky_grad_op({
    .name = "BatchCholeskyGrad",
    .inputs = "l: T, grad: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = GradShape,
    .reference = CholeskyGrad,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration cholesky_op({
    .name = "Cholesky",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = Cholesky,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration batch_cholesky_op({
    .name = "BatchCholesky",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float",
    .shape = SquareToSquareShape,
    .reference = Cholesky,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
