// Abs, Neg, Sign, Square, Reciprocal, Inv. Integers wrap around.
#include <cmath>
#include <cstdlib>

#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kAbs = [](auto x) {
  if constexpr (kIsInt<decltype(x)>) {
    return x < 0 ? WrapSub(decltype(x)(0), x) : x;
  } else {
    return std::abs(x);
  }
};
constexpr auto kNeg = [](auto x) {
  if constexpr (kIsInt<decltype(x)>) {
    return WrapSub(decltype(x)(0), x);
  } else {
    return -x;
  }
};
// NaN stays NaN; a complex number keeps its direction.
constexpr auto kSign = [](auto x) {
  using T = decltype(x);
  if constexpr (kIsComplex<T>) {
    return x == T(0) ? T(0) : x / std::abs(x);
  } else if constexpr (kIsInt<T>) {
    return static_cast<T>((x > 0) - (x < 0));
  } else {
    return x > 0 ? T(1) : (x < 0 ? T(-1) : x);
  }
};
constexpr auto kSquare = [](auto x) { return WrapMul(x, x); };
// An integer's reciprocal is 1, -1 or 0; that of zero is 0 here (undefined in TensorFlow).
constexpr auto kReciprocal = [](auto x) {
  using T = decltype(x);
  if constexpr (kIsInt<T>) {
    return static_cast<T>(x == 1 || x == T(-1) ? x : T(0));
  } else {
    return T(1) / x;
  }
};

using SignTypes = Joined<FloatsAndComplexes, SignedInts>;

const OpRegistration abs_op({
    .name = "Abs",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64",
    .shape = UnchangedShape,
    .reference = Unary<kAbs, Joined<Floats, SignedInts>>,
    .accelerated = VectorUnary<ElementwiseOp::kAbs>,
    .native = "_MklNativeAbs",
    .native_types = "float bfloat16",
    .post_op = PostOp::kAbs,
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
    .reference = Unary<kNeg, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kNeg>,
    .native = "_MklNativeNeg",
    .native_types = "float bfloat16",
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
    .reference = Unary<kSign, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kSign>,
    .native = "_MklNativeSign",
    .native_types = "float bfloat16",
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
    .reference = Unary<kSquare, Numbers>,
    .accelerated = VectorUnary<ElementwiseOp::kSquare>,
    .native = "_MklNativeSquare",
    .native_types = "float bfloat16",
    .post_op = PostOp::kSquare,
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
    .reference = Unary<kReciprocal, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kReciprocal>,
    .native = "_MklNativeReciprocal",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration inv_op({
    .name = "Inv",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double int8 int16 int32 int64 complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kReciprocal, SignTypes>,
    .accelerated = VectorUnary<ElementwiseOp::kReciprocal>,
    .native = "_MklNativeInv",
    .native_types = "float bfloat16",
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
