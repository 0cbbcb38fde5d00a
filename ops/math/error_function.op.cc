// Erf, Erfc, Erfinv.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration erf_op({
    .name = "Erf",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kErf>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kErf>,
    .native = "_MklNativeErf",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration erfc_op({
    .name = "Erfc",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kErfc>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kErfc>,
    .native = "_MklNativeErfc",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration erfinv_op({
    .name = "Erfinv",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kErfinv>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kErfinv>,
    .native = "_MklNativeErfinv",
    .native_types = "float bfloat16",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
