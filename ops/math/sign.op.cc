// Abs, Neg, Sign, Square, Reciprocal, Inv. Integers wrap around.
#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

using SignTypes = Joined<FloatsAndComplexes, SignedInts>;

const OpRegistration abs_op({
    .name = "Abs",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kAbs>{}, Joined<Floats, SignedInts>>,
    .accelerated = VectorUnary<ElementwiseOp::kAbs>,
    .native = "_MklNativeAbs",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration neg_op({
    .name = "Neg",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kNeg>{}, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kNeg>,
    .native = "_MklNativeNeg",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration sign_op({
    .name = "Sign",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSign>{}, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kSign>,
    .native = "_MklNativeSign",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration square_op({
    .name = "Square",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 "
             "uint64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kSquare>{}, Numbers>,
    .accelerated = VectorUnary<ElementwiseOp::kSquare>,
    .native = "_MklNativeSquare",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration reciprocal_op({
    .name = "Reciprocal",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kReciprocal>{}, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kReciprocal>,
    .native = "_MklNativeReciprocal",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration inv_op({
    .name = "Inv",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kReciprocal>{}, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kReciprocal>,
    .native = "_MklNativeInv",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
