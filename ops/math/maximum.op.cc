// Maximum, Minimum. A NaN on either side gives NaN.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration maximum({
    .name = "Maximum",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kMaximum>{}, RealNumbers>,
    .accelerated = VectorBinary<ElementwiseOp::kMaximum>,
    .native = "_MklNativeMaximum",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration minimum({
    .name = "Minimum",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kMinimum>{}, RealNumbers>,
    .accelerated = VectorBinary<ElementwiseOp::kMinimum>,
    .native = "_MklNativeMinimum",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
