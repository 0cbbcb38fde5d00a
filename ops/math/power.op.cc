// Pow, Atan2, Xdivy, Xlogy, Xlog1py.
#include <cmath>

#include "kernels/elementwise/reference.h"
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
    return std::pow(a, b);
  }
};
constexpr auto kNotNegative = [](auto b) -> const char* {
  return b < decltype(b)(0) ? "Integers to negative integer powers are not allowed" : nullptr;
};
constexpr auto kAtan2 = [](auto y, auto x) { return std::atan2(y, x); };
constexpr auto kXdivy = [](auto x, auto y) {
  using T = decltype(x);
  return x == T(0) ? T(0) : T(x / y);
};
constexpr auto kXlogy = [](auto x, auto y) {
  using T = decltype(x);
  return x == T(0) ? T(0) : T(x * std::log(y));
};
constexpr auto kXlog1py = [](auto x, auto y) {
  using T = decltype(x);
  if (x == T(0)) return T(0);
  if constexpr (kIsComplex<T>) {
    return T(x * std::log(T(1) + y));
  } else {
    return T(x * std::log1p(y));
  }
};

const OpRegistration pow({
    .name = "Pow",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 float half double int8 int16 int32 int64 complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = CheckedBinary<kPow, kNotNegative, Joined<FloatsAndComplexes, SignedInts>>,
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
    .reference = Binary<kAtan2, Floats>,
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
    .reference = Binary<kXdivy, FloatsAndComplexes>,
    .elementwise = true,
});

const OpRegistration xlogy({
    .name = "Xlogy",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double complex64 complex128",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kXlogy, FloatsAndComplexes>,
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
    .reference = Binary<kXlog1py, FloatsAndComplexes>,
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
