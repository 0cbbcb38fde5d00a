// Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Sigmoid.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration sinh_op({
    .name = "Sinh",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSinh>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kSinh>,
    .native = "_MklNativeSinh",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration cosh_op({
    .name = "Cosh",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kCosh>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kCosh>,
    .native = "_MklNativeCosh",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration tanh_op({
    .name = "Tanh",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kTanh>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kTanh>,
    .native = "_MklNativeTanh",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration asinh_op({
    .name = "Asinh",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAsinh>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kAsinh>,
    .native = "_MklNativeAsinh",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration acosh_op({
    .name = "Acosh",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAcosh>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kAcosh>,
    .native = "_MklNativeAcosh",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration atanh_op({
    .name = "Atanh",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAtanh>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kAtanh>,
    .native = "_MklNativeAtanh",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration sigmoid_op({
    .name = "Sigmoid",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSigmoid>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kSigmoid>,
    .native = "_MklNativeSigmoid",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
