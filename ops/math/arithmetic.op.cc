// Add, AddV2, Sub, Mul, SquaredDifference. Integers wrap around.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kNumberTypes[] =
    "T: bfloat16 half float double uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "complex64 complex128";

const OpRegistration add({
    .name = "Add",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double uint8 int8 int16 int32 int64 complex64 complex128 "
             "string",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kAdd>{}, Joined<Numbers, TypeList<std::string>>>,
    .accelerated = VectorBinary<ElementwiseOp::kAdd>,
    .native = "_MklNativeAdd",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .on_integers = OnIntegers::kAdds,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration add_v2({
    .name = "AddV2",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kNumberTypes,
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kAdd>{}, Numbers>,
    .accelerated = VectorBinary<ElementwiseOp::kAdd>,
    .native = "_MklNativeAddV2",
    .native_types = "float bfloat16 double",
    .commutative = true,
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .on_integers = OnIntegers::kAdds,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration sub({
    .name = "Sub",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kNumberTypes,
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kSub>{}, Numbers>,
    .accelerated = VectorBinary<ElementwiseOp::kSub>,
    .native = "_MklNativeSub",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration mul({
    .name = "Mul",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kNumberTypes,
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kMul>{}, Numbers>,
    .accelerated = VectorBinary<ElementwiseOp::kMul>,
    .native = "_MklNativeMul",
    .native_types = "float bfloat16 double complex64",
    .commutative = true,
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration squared_difference({
    .name = "SquaredDifference",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int32 int64 complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kSquaredDifference>{},
                        Joined<FloatsAndComplexes, TypeList<int32_t, int64_t>>>,
    .accelerated = VectorBinary<ElementwiseOp::kSquaredDifference>,
    .native = "_MklNativeSquaredDifference",
    .native_types = "float bfloat16 double",
    .commutative = true,
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
