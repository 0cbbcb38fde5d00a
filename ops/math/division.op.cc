// RealDiv, Div, DivNoNan, MulNoNan, FloorDiv, TruncateDiv. An integer divided by zero is an error;
// the lowest integer divided by -1 wraps around to itself.
#include <cmath>

#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/integer_division.h"
#include "kernels/elementwise/plain_binary.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kFloorDiv = [](auto a, auto b) {
  if constexpr (kIsInt<decltype(a)>) {
    return FloorQuotient(a, b);
  } else {
    return std::floor(a / b);
  }
};
constexpr auto kTruncateDiv = [](auto a, auto b) {
  if constexpr (kIsInt<decltype(a)>) {
    return TruncatedQuotient(a, b);
  } else {
    return std::trunc(a / b);
  }
};
constexpr auto kMulNoNan = [](auto a, auto b) {
  using T = decltype(a);
  const T product = Formula<ElementwiseOp::kMul>{}(
      a, b);  // outside of the choice, so that loops become vector code
  return b == T(0) ? T(0) : product;
};

absl::StatusOr<std::unique_ptr<Kernel>> MulNoNan(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kFloat) return Binary<kMulNoNan, FloatsAndComplexes>(p);
  return MakeBinaryKernel(p, &PlainBinaryLoop<PlainBinary::kMulNoNan, float>, /*same_size=*/true);
}

constexpr char kDivisionTypes[] =
    "T: bfloat16 half float double uint8 int8 uint16 int16 int32 uint32 uint64 int64 "
    "complex64 complex128";

const OpRegistration real_div({
    .name = "RealDiv",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kDivisionTypes,
    .shape = BroadcastBinaryShape,
    .reference = CheckedBinary<Formula<ElementwiseOp::kDiv>{}, kNotZero, Numbers>,
    .accelerated = VectorBinary<ElementwiseOp::kDiv>,
    .native = "_MklNativeRealDiv",
    .native_types = "float bfloat16 double complex64",
    .elementwise = true,
});

const OpRegistration div({
    .name = "Div",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kDivisionTypes,
    .shape = BroadcastBinaryShape,
    .reference = CheckedBinary<Formula<ElementwiseOp::kDiv>{}, kNotZero, Numbers>,
    .accelerated = VectorBinary<ElementwiseOp::kDiv>,
    .native = "_MklNativeDiv",
    .native_types = "float bfloat16 double complex64",
    .elementwise = true,
});

const OpRegistration floor_div({
    .name = "FloorDiv",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kDivisionTypes,
    .shape = BroadcastBinaryShape,
    .reference = CheckedDivision<PlainBinary::kFloorQuotient, kFloorDiv, RealNumbers>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration truncate_div({
    .name = "TruncateDiv",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = kDivisionTypes,
    .shape = BroadcastBinaryShape,
    .reference = CheckedDivision<PlainBinary::kTruncatedQuotient, kTruncateDiv, RealNumbers>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration div_no_nan({
    .name = "DivNoNan",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: half float bfloat16 double complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kDivNoNan>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kDivNoNan>,
    .native = "_MklNativeDivNoNan",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration mul_no_nan({
    .name = "MulNoNan",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = MulNoNan,
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
