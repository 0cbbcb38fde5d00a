// Sqrt, Rsqrt, Exp, Expm1, Log, Log1p.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration sqrt_op({
    .name = "Sqrt",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSqrt>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kSqrt>,
    .native = "_MklNativeSqrt",
    .native_types = "float bfloat16 double complex64",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
});

const OpRegistration rsqrt_op({
    .name = "Rsqrt",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kRsqrt>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kRsqrt>,
    .native = "_MklNativeRsqrt",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration exp_op({
    .name = "Exp",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kExp>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kExp>,
    .native = "_MklNativeExp",
    .native_types = "float bfloat16 double complex64",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration expm1_op({
    .name = "Expm1",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kExpm1>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kExpm1>,
    .native = "_MklNativeExpm1",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration log_op({
    .name = "Log",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kLog>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kLog>,
    .native = "_MklNativeLog",
    .native_types = "float bfloat16 double complex64",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration log1p_op({
    .name = "Log1p",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kLog1p>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kLog1p>,
    .native = "_MklNativeLog1p",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
