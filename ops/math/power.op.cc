// Pow, Atan2, Xdivy, Xlogy, Xlog1py.
#include <cmath>

#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kPow = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (kIsInt<T>) {
    T result = 1;
    for (T base = a, n = b; n > 0; n = static_cast<T>(n / 2), base = WrapMul(base, base)) {
      if (n % 2 != 0) result = WrapMul(result, base);
    }
    return result;
  } else {
    return Formula<ElementwiseOp::kPow>{}(a, b);
  }
};
constexpr auto kNotNegative = [](auto b) -> const char* {
  return b < decltype(b)(0) ? "Integers to negative integer powers are not allowed" : nullptr;
};

const OpRegistration pow({
    .name = "Pow",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 float half double int8 int16 int32 int64 complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = CheckedBinary<kPow, kNotNegative, Joined<FloatsAndComplexes, SignedInts>>,
    .accelerated = VectorBinary<ElementwiseOp::kPow>,
    .native = "_MklNativePow",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration atan2({
    .name = "Atan2",
    .inputs = "y: T, x: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kAtan2>{}, Floats>,
    .accelerated = VectorBinary<ElementwiseOp::kAtan2>,
    .native = "_MklNativeAtan2",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration xdivy({
    .name = "Xdivy",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kXdivy>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kXdivy>,
    .native = "_MklNativeXdivy",
    .native_types = "float bfloat16 double",
    .elementwise = true,
});

const OpRegistration xlogy({
    .name = "Xlogy",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kXlogy>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kXlogy>,
    .native = "_MklNativeXlogy",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration xlog1py({
    .name = "Xlog1py",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = Binary<Formula<ElementwiseOp::kXlog1py>{}, FloatsAndComplexes>,
    .accelerated = VectorBinary<ElementwiseOp::kXlog1py>,
    .native = "_MklNativeXlog1py",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
