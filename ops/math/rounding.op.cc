// Floor, Ceil, Round and Rint (both half to even).
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration floor_op({
    .name = "Floor",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kFloor>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kFloor>,
    .native = "_MklNativeFloor",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration ceil_op({
    .name = "Ceil",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kCeil>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kCeil>,
    .native = "_MklNativeCeil",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration round_op({
    .name = "Round",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kRint>{}, Joined<FloatsAndComplexes, SignedInts>>,
    .accelerated = VectorUnary<ElementwiseOp::kRint>,
    .native = "_MklNativeRound",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration rint_op({
    .name = "Rint",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kRint>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kRint>,
    .native = "_MklNativeRint",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
