// Sin, Cos, Tan, Asin, Acos, Atan.
#include <cmath>
#include <complex>

#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kTan = [](auto x) { return std::tan(x); };
constexpr auto kAsin = [](auto x) { return std::asin(x); };
constexpr auto kAcos = [](auto x) { return std::acos(x); };
constexpr auto kAtan = [](auto x) { return std::atan(x); };

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
    .native_types = "float bfloat16",
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
    .native_types = "float bfloat16",
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
    .reference = Unary<kTan, FloatsAndComplexes>,
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
    .reference = Unary<kAsin, FloatsAndComplexes>,
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
    .reference = Unary<kAcos, FloatsAndComplexes>,
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
    .reference = Unary<kAtan, FloatsAndComplexes>,
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
