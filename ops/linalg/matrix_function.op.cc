// MatrixSquareRoot, MatrixLogarithm, MatrixExponential: functions of matrices, computed in double
// precision.
#include "kernels/linalg/matrix_function.h"

#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration matrix_square_root_op({
    .name = "MatrixSquareRoot",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixSquareRoot,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration matrix_logarithm_op({
    .name = "MatrixLogarithm",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixLogarithm,
    .error_bound = ErrorBound::kLinearAlgebra,
});

const OpRegistration matrix_exponential_op({
    .name = "MatrixExponential",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixExponential,
    .error_bound = ErrorBound::kLinearAlgebra,
});

}  // namespace
}  // namespace tenon
