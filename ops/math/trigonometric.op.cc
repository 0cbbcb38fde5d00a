// Sin, Cos, Tan, Asin, Acos, Atan.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration sin_op({
    .name = "Sin",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSin>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kSin>,
    .native = "_MklNativeSin",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration cos_op({
    .name = "Cos",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kCos>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kCos>,
    .native = "_MklNativeCos",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration tan_op({
    .name = "Tan",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kTan>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kTan>,
    .native = "_MklNativeTan",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration asin_op({
    .name = "Asin",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAsin>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kAsin>,
    .native = "_MklNativeAsin",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration acos_op({
    .name = "Acos",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAcos>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kAcos>,
    .native = "_MklNativeAcos",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration atan_op({
    .name = "Atan",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAtan>{}, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kAtan>,
    .native = "_MklNativeAtan",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
