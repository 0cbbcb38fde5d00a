// Activations that rewriting puts in place of the small graphs that models write them with:
// _GeluExact, _GeluApproximate, _Swish, _HardSwish, _Mish.
#include <cmath>

#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

// x Phi(x); erfc keeps the small values on the negative side.
constexpr auto kGeluExact = [](auto x) {
  using T = decltype(x);
  return T(0.5) * x * std::erfc(-x * T(0.70710678118654752440));
};
// Hendrycks and Gimpel: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
constexpr auto kGeluApproximate = [](auto x) {
  using T = decltype(x);
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (T(1) + std::tanh(inner));
};
constexpr auto kSwish = [](auto x) {
  using T = decltype(x);
  return x * (T(1) / (T(1) + std::exp(-x)));
};
// x relu6(x + 3) / 6
constexpr auto kHardSwish = [](auto x) {
  using T = decltype(x);
  const T shifted = x + T(3);
  return x * (shifted < T(0) ? T(0) : (shifted > T(6) ? T(6) : shifted)) / T(6);
};
// x tanh(softplus(x))
constexpr auto kMish = [](auto x) {
  using T = decltype(x);
  return x * std::tanh(x > T(20) ? x : std::log1p(std::exp(x)));
};

const OpRegistration gelu_exact({
    .name = "_GeluExact",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<kGeluExact, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kGeluExact>,
    .native = "_MklNativeGeluExact",
    .native_types = "float bfloat16",
    .post_op = PostOp::kGeluErf,
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration gelu_approximate({
    .name = "_GeluApproximate",
    .inputs = "features: T",
    .outputs = "activations: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = UnchangedShape,
    .reference = Unary<kGeluApproximate, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kGeluApproximate>,
    .native = "_MklNativeGeluApproximate",
    .native_types = "float bfloat16",
    .post_op = PostOp::kGeluTanh,
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
    .reference = Unary<kSwish, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kSwish>,
    .native = "_MklNativeSwish",
    .native_types = "float bfloat16",
    .post_op = PostOp::kSwish,
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
    .reference = Unary<kHardSwish, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kHardSwish>,
    .native = "_MklNativeHardSwish",
    .native_types = "float bfloat16",
    .post_op = PostOp::kHardSwish,
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
    .reference = Unary<kMish, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kMish>,
    .native = "_MklNativeMish",
    .native_types = "float bfloat16",
    .post_op = PostOp::kMish,
    .elementwise = true,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
