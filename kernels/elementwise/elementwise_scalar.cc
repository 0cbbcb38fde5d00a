#include "kernels/elementwise/elementwise_scalar.h"

#include <cmath>

namespace tenon {
namespace {

template <typename F>
F Sigmoid(F x) {
  return F{1} / (F{1} + std::exp(-x));
}
template <typename F>
F Relu(F x) {
  return x < 0 ? F{0} : x;
}
template <typename F>
F Relu6(F x) {
  return x > 6 ? F{6} : Relu(x);
}
template <typename F>
F Softplus(F x) {
  return Relu(x) + std::log1p(std::exp(-std::fabs(x)));
}
template <typename F>
F Selu(F x) {
  const F scale = F(1.0507009873554804934), alpha = F(1.6732632423543772848);
  return x < 0 ? scale * alpha * std::expm1(x) : scale * x;
}
template <typename F>
F GeluApproximate(F x) {
  const F u = F(0.79788456080286535588) * (x + F(0.044715) * x * x * x);
  return F(0.5) * x * (1 + std::tanh(u));
}
template <typename F>
F Maximum(F a, F b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? b : a;
}
template <typename F>
F Minimum(F a, F b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : b < a ? b : a;
}

}  // namespace

template <typename F>
F ScalarElementwise(ElementwiseOp op, F a, F b, F c, F parameter) {
  using E = ElementwiseOp;
  switch (op) {
    // clang-format off
    case E::kCopy: return a;
    case E::kAbs: return std::fabs(a);
    case E::kNeg: return -a;
    case E::kSquare: return a * a;
    case E::kSqrt: return std::sqrt(a);
    case E::kRsqrt: return 1 / std::sqrt(a);
    case E::kReciprocal: return 1 / a;
    case E::kSign: return a > 0 ? F{1} : a < 0 ? F{-1} : a;
    case E::kFloor: return std::floor(a);
    case E::kCeil: return std::ceil(a);
    case E::kRint: return std::nearbyint(a);
    case E::kExp: return std::exp(a);
    case E::kExpm1: return std::expm1(a);
    case E::kLog: return std::log(a);
    case E::kLog1p: return std::log1p(a);
    case E::kErf: return std::erf(a);
    case E::kErfc: return std::erfc(a);
    case E::kTanh: return std::tanh(a);
    case E::kSigmoid: return Sigmoid(a);
    case E::kRelu: return Relu(a);
    case E::kRelu6: return Relu6(a);
    case E::kLeakyRelu: return a < 0 ? parameter * a : a;
    case E::kElu: return a < 0 ? std::expm1(a) : a;
    case E::kSelu: return Selu(a);
    case E::kSoftplus: return Softplus(a);
    case E::kSoftsign: return a / (1 + std::fabs(a));
    case E::kGeluExact: return F(0.5) * a * std::erfc(-a * F(0.70710678118654752440));
    case E::kGeluApproximate: return GeluApproximate(a);
    case E::kSwish: return a * Sigmoid(a);
    case E::kHardSwish: return a * (Relu6(a + 3) / 6);
    case E::kMish: return a * std::tanh(Softplus(a));
    case E::kAdd: return a + b;
    case E::kSub: return a - b;
    case E::kMul: return a * b;
    case E::kDiv: return a / b;
    case E::kDivNoNan: return b == 0 ? F{0} : a / b;
    case E::kMaximum: return Maximum(a, b);
    case E::kMinimum: return Minimum(a, b);
    case E::kSquaredDifference: return (a - b) * (a - b);
    case E::kReluGrad: return a * F(b > 0);
    case E::kRelu6Grad: return a * F(b > 0 && b < 6);
    case E::kLeakyReluGrad: return b > 0 ? a : a * parameter;
    case E::kEluGrad: return b < 0 ? (b + 1) * a : a;
    case E::kSeluGrad: return b < 0 ? a * (b + F(1.7580993408473768599)) : a * F(1.0507009873554804934);
    case E::kSoftplusGrad: return a / (std::exp(-b) + 1);
    case E::kSoftsignGrad: return a / ((1 + std::fabs(b)) * (1 + std::fabs(b)));
    case E::kTanhGrad: return b * (1 - a * a);
    case E::kSigmoidGrad: return b * a * (1 - a);
    case E::kSqrtGrad: return b == 0 ? F{0} : F(0.5) * b / a;
    case E::kRsqrtGrad: return b == 0 ? F{0} : F(-0.5) * (b * a) * (a * a);
    case E::kReciprocalGrad: return b == 0 ? F{0} : -a * a * b;
    case E::kMulAdd: return a * b + c;
    case E::kMulAddRelu: return Relu(a * b + c);
    case E::kNumOps: break;
      // clang-format on
  }
  return F(NAN);
}

template float ScalarElementwise(ElementwiseOp, float, float, float, float);
template double ScalarElementwise(ElementwiseOp, double, double, double, double);

}  // namespace tenon
