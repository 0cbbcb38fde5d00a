// Sqrt, Rsqrt, Exp, Expm1, Log, Log1p.
#include <cmath>
#include <complex>

#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kSqrt = [](auto x) { return std::sqrt(x); };
constexpr auto kRsqrt = [](auto x) { return decltype(x)(1) / std::sqrt(x); };
constexpr auto kExp = [](auto x) { return std::exp(x); };
constexpr auto kExpm1 = [](auto x) {
  if constexpr (kIsComplex<decltype(x)>) {
    // exp(a + ib) - 1, the real part without cancellation near 0.
    using R = typename decltype(x)::value_type;
    const R s = std::sin(x.imag() / 2);
    const R e = std::expm1(x.real());
    return decltype(x)(e * std::cos(x.imag()) - 2 * s * s, (e + 1) * std::sin(x.imag()));
  } else {
    return std::expm1(x);
  }
};
constexpr auto kLog = [](auto x) { return std::log(x); };
constexpr auto kLog1p = [](auto x) {
  if constexpr (kIsComplex<decltype(x)>) {
    return std::log(decltype(x)(1) + x);
  } else {
    return std::log1p(x);
  }
};

const OpRegistration sqrt_op({
    .name = "Sqrt",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kSqrt, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kSqrt>,
    .native = "_MklNativeSqrt",
    .native_types = "float bfloat16",
    .post_op = PostOp::kSqrt,
    .elementwise = true,
    .sign = Sign::kNeverNegative,
});

const OpRegistration rsqrt_op({
    .name = "Rsqrt",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kRsqrt, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kRsqrt>,
    .native = "_MklNativeRsqrt",
    .native_types = "float bfloat16",
    .elementwise = true,
});

const OpRegistration exp_op({
    .name = "Exp",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kExp, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kExp>,
    .native = "_MklNativeExp",
    .native_types = "float bfloat16",
    .post_op = PostOp::kExp,
    .elementwise = true,
    .sign = Sign::kNeverNegative,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration expm1_op({
    .name = "Expm1",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kExpm1, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kExpm1>,
    .native = "_MklNativeExpm1",
    .native_types = "float bfloat16",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration log_op({
    .name = "Log",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kLog, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kLog>,
    .native = "_MklNativeLog",
    .native_types = "float bfloat16",
    // No post-op: oneDNN's logarithm is off by 1 % close to 1.
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration log1p_op({
    .name = "Log1p",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kLog1p, FloatsAndComplexes>,
    .accelerated = VectorUnary<ElementwiseOp::kLog1p>,
    .native = "_MklNativeLog1p",
    .native_types = "float bfloat16",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
