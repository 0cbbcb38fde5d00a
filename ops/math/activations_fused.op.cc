// Activations into which rewriting fuses the small graphs that models write: _GeluExact,
// _GeluApproximate, _Swish, _HardSwish, _Mish.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration gelu_exact({
    .name = "_GeluExact",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kGeluExact>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kGeluExact>,
    .native = "_MklNativeGeluExact",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kGatedInput,
});

const OpRegistration gelu_approximate({
    .name = "_GeluApproximate",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kGeluApproximate>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kGeluApproximate>,
    .native = "_MklNativeGeluApproximate",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration swish({
    .name = "_Swish",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSwish>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kSwish>,
    .native = "_MklNativeSwish",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration hard_swish({
    .name = "_HardSwish",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kHardSwish>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kHardSwish>,
    .native = "_MklNativeHardSwish",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration mish({
    .name = "_Mish",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kMish>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kMish>,
    .native = "_MklNativeMish",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
