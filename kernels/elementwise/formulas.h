// The formulas of the elementwise ops on scalars: real, complex and integer.
//
//   .reference = Unary<Formula<ElementwiseOp::kSelu>{}, Floats>,
//
// A function with a different algorithm for vectors has its scalar form here and its vector form in
// simd/math-inl.h or elementwise_simd.cc.
#ifndef TENON_KERNELS_ELEMENTWISE_FORMULAS_H_
#define TENON_KERNELS_ELEMENTWISE_FORMULAS_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/integer_division.h"
#include "kernels/elementwise/quantiles.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace scalar {

template <typename T>
T Number(double value) {
  return static_cast<T>(value);
}

template <typename T>
T IfThenElse(bool yes, T a, T b) {
  return yes ? a : b;
}
template <typename T>
T IfThenZeroElse(bool yes, T b) {
  return yes ? T(0) : b;
}
template <typename T>
T IfThenElseZero(bool yes, T a) {
  return yes ? a : T(0);
}
inline bool And(bool a, bool b) { return a && b; }
template <typename T>
bool IsNaN(T x) {
  return x != x;
}

template <typename T>
T Conj(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
template <typename T>
T Neg(T x) {
  if constexpr (kIsInt<T>) {
    return WrapSub(T(0), x);
  } else {
    return -x;
  }
}
template <typename T>
auto Abs(T x) {
  if constexpr (kIsInt<T>) {
    return x < 0 ? WrapSub(T(0), x) : x;
  } else {
    return std::abs(x);
  }
}
using tenon::WrapMul;
// Complex products and quotients are the formulas of TensorFlow's vectors: no result is repaired as
// std::complex does it, so an infinite operand mostly gives NaN.
template <typename R>
std::complex<R> WrapMul(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
// Keeps NaN, and the direction of a complex number.
template <typename T>
T Sign(T x) {
  if constexpr (kIsComplex<T>) {
    return x == T(0) ? T(0) : x / std::abs(x);
  } else if constexpr (kIsInt<T>) {
    return static_cast<T>((x > 0) - (x < 0));
  } else {
    // x + x: NaN, or a zero of the same sign, or a denormal, which this flushes where they are
    // zero.
    return x > 0 ? T(1) : (x < 0 ? T(-1) : static_cast<T>(x + x));
  }
}
// Products of floats fit a double, so that nothing has to be scaled.
inline complex64 Quotient(complex64 a, complex64 b) {
  const double x = a.real(), y = a.imag(), u = b.real(), v = b.imag();
  const double inverse = 1 / (u * u + v * v);
  return {static_cast<float>((x * u + y * v) * inverse),
          static_cast<float>((y * u - x * v) * inverse)};
}
// Scaled by b's larger part.
inline std::complex<double> Quotient(std::complex<double> a, std::complex<double> b) {
  const double scale = std::max(std::abs(b.real()), std::abs(b.imag()));
  const double u = b.real() / scale, v = b.imag() / scale, size = u * u + v * v;
  return {(a.real() * u + a.imag() * v) / size / scale,
          (a.imag() * u - a.real() * v) / size / scale};
}
template <typename T>
T Quotient(T a, T b) {
  if constexpr (kIsInt<T>) {
    return TruncatedQuotient(a, b);
  } else {
    return a / b;
  }
}
// An integer's reciprocal is 1, -1 or 0; that of zero is 0 here (undefined in TensorFlow).
template <typename T>
T Reciprocal(T x) {
  if constexpr (kIsInt<T>) {
    return static_cast<T>(x == 1 || x == T(-1) ? x : T(0));
  } else {
    return Quotient(T(1), x);
  }
}
template <typename T>
T MulAdd(T a, T b, T c) {
  return a * b + c;
}

template <typename T>
T Floor(T x) {
  return std::floor(x);
}
template <typename T>
T Ceil(T x) {
  return std::ceil(x);
}
// nearbyint in the default rounding mode: half to even.
template <typename T>
T Round(T x) {
  if constexpr (kIsComplex<T>) {
    return T(std::nearbyint(x.real()), std::nearbyint(x.imag()));
  } else if constexpr (kIsInt<T>) {
    return x;
  } else {
    return std::nearbyint(x);
  }
}
template <typename T>
T Sqrt(T x) {
  return std::sqrt(x);
}
template <typename T>
T Exp(T x) {
  return std::exp(x);
}
template <typename T>
T Expm1(T x) {
  if constexpr (kIsComplex<T>) {
    // exp(a + ib) - 1, with no cancellation near 0 in the real part.
    using R = typename T::value_type;
    const R s = std::sin(x.imag() / 2);
    const R e = std::expm1(x.real());
    return T(e - 2 * (e + 1) * s * s, (e + 1) * std::sin(x.imag()));
  } else {
    return std::expm1(x);
  }
}
template <typename T>
T Log(T x) {
  return std::log(x);
}
template <typename T>
T Log1p(T x) {
  if constexpr (kIsComplex<T>) {
    // x log(u) / (u - 1), where u = 1 + x, rounded: the errors of the last two cancel.
    const T u(1 + x.real(), x.imag()), log = std::log(u);
    return u == T(1) || u == log ? x : x * (log / (u - T(1)));
  } else {
    return std::log1p(x);
  }
}
template <typename T>
T Erf(T x) {
  return std::erf(x);
}
template <typename T>
T Erfc(T x) {
  return std::erfc(x);
}
template <typename T>
T Tanh(T x) {
  return std::tanh(x);
}
template <typename T>
T Sin(T x) {
  return std::sin(x);
}
template <typename T>
T Cos(T x) {
  return std::cos(x);
}
template <typename T>
T Asin(T x) {
  return std::asin(x);
}
template <typename T>
T Acos(T x) {
  return std::acos(x);
}
template <typename T>
T Atan(T x) {
  return std::atan(x);
}
template <typename T>
T Atan2(T y, T x) {
  return std::atan2(y, x);
}
template <typename T>
T Tan(T x) {
  return std::tan(x);
}
template <typename T>
T Sinh(T x) {
  return std::sinh(x);
}
template <typename T>
T Cosh(T x) {
  return std::cosh(x);
}
template <typename T>
T Asinh(T x) {
  return std::asinh(x);
}
template <typename T>
T Acosh(T x) {
  return std::acosh(x);
}
template <typename T>
T Atanh(T x) {
  return std::atanh(x);
}
template <typename T>
T Erfinv(T x) {
  return static_cast<T>(InverseErf(x));
}
template <typename T>
T Ndtri(T p) {
  return NormalQuantile(p);
}
template <typename T>
T Pow(T x, T y) {
  return std::pow(x, y);
}
template <typename T>
T Sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <typename T>
T Softplus(T x) {
  // Beyond this threshold, log1p(exp(x)) equals x, or exp(x), to the last bit.
  const T threshold = std::log(std::numeric_limits<T>::epsilon()) + T(2);
  return x > -threshold ? x : (x < threshold ? std::exp(x) : std::log1p(std::exp(x)));
}
// Hendrycks and Gimpel: x Phi(x); erfc is accurate for x far below 0.
template <typename T>
T GeluExact(T x) {
  return T(0.5) * x * std::erfc(x * T(-kSqrtOfHalf));
}
// Their approximation: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <typename T>
T GeluApproximate(T x) {
  const T inner = T(kSqrtOf2OverPi) * (x + T(kGeluCubic) * x * x * x);
  return T(0.5) * x * (T(1) + std::tanh(inner));
}
template <typename T>
T Swish(T x) {
  return x * Sigmoid(x);
}
template <typename T>
T SixthOfProduct(T x, T y) {
  return x * y / T(6);
}
// x tanh(softplus(x))
template <typename T>
T Mish(T x) {
  return x * std::tanh(x > T(20) ? x : std::log1p(std::exp(x)));
}

#include "kernels/elementwise/formulas.inc"

}  // namespace scalar

using scalar::Formula;

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_FORMULAS_H_
