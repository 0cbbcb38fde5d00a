#include "kernels/elementwise/integrals.h"

#include <cmath>
#include <complex>
#include <limits>

namespace tenon {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kEulerGamma = 0.57721566490153286061;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// C(x) + i S(x), the integral of exp(i pi t^2 / 2) from 0 to x.
std::complex<double> Fresnel(double x) {
  using Complex = std::complex<double>;
  const double a = std::abs(x);
  if (std::isnan(x)) return {x, x};
  if (std::isinf(x)) return {std::copysign(0.5, x), std::copysign(0.5, x)};
  if (a < 1.6) {
    // Terms (i pi/2)^k x^(2k+1) / (k! (2k+1)).
    Complex term(x, 0), sum = term;
    for (int k = 1; k < 60; ++k) {
      term *= Complex(0, kPi / 2 * x * x) / static_cast<double>(k);
      sum += term / static_cast<double>(2 * k + 1);
    }
    return sum;
  }
  // (1 + i)/2 (1 - erfc(z)) with z = sqrt(pi)/2 (1 - i) x; erfc by its continued fraction, starting
  // at the far end.
  const Complex z = std::sqrt(kPi) / 2 * Complex(1, -1) * a;
  Complex tail(0, 0);
  for (int k = 150; k > 0; --k) tail = static_cast<double>(k) / 2 / (z + tail);
  const double square = a * a;  // its turns, and its rounding error
  const double phase = kPi / 2 * (std::fmod(square, 4.0) + std::fma(a, a, -square));
  const Complex erfc = std::polar(1.0, phase) / std::sqrt(kPi) / (z + tail);
  const Complex value = Complex(0.5, 0.5) * (1.0 - erfc);
  return {std::copysign(1.0, x) * value.real(), std::copysign(1.0, x) * value.imag()};
}

}  // namespace

// exp(-x^2) times the integral of exp(t^2) from 0 to x, by Rybicki's sum of shifted Gaussians:
// 1/sqrt(pi) sum over odd n of exp(-(x - n h)^2) / n, whose error decays as exp(-(pi/2h)^2).
double Dawson(double x) {
  const double a = std::abs(x);
  if (std::isnan(x)) return x;
  if (a < 0.2) {
    double term = x, sum = x;  // sum of (-2)^k x^(2k+1) / (2k+1)!!
    for (int k = 1; k < 20; ++k) {
      term *= -2 * x * x / (2 * k + 1);
      sum += term;
    }
    return sum;
  }
  if (a > 50) {
    const double z = 1 / (2 * x * x);
    return (1 + z * (1 + z * (3 + z * (15 + z * 105)))) / (2 * x);
  }
  constexpr double kStep = 0.2;
  const int64_t middle = 2 * std::llround(0.5 * a / kStep);
  const double rest = a - static_cast<double>(middle) * kStep;
  double sum = 0;
  for (int64_t n = -39; n <= 39; n += 2) {
    const double d = rest - static_cast<double>(n) * kStep;
    sum += std::exp(-d * d) / static_cast<double>(n + middle);
  }
  return std::copysign(sum / std::sqrt(kPi), x);
}

// The exponential integral Ei, for x > 0.
double Expint(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  if (x < 40) {
    double term = 1, sum = 0;
    for (int k = 1; k < 200; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < 1e-18 * sum) break;
    }
    return kEulerGamma + std::log(x) + sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < x; ++k) {
    term *= k / x;
    sum += term;
    if (term < 1e-17) break;
  }
  return std::exp(x) / x * sum;
}

// Spence's function: -integral of log(t) / (t - 1) from 1 to x, = Li2(1 - x).
double Spence(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return kPi * kPi / 6;
  if (x == kInfinity) return -kInfinity;
  if (x > 2) {
    const double l = std::log(x);  // the inversion x -> 1/x
    return -0.5 * l * l - Spence(1 / x);
  }
  if (x < 0.5) return kPi * kPi / 6 - std::log(x) * std::log1p(-x) - Spence(1 - x);
  // Li2(y) for y = 1 - x in [-1, 1/2]: a series in u = -log(1 - y) with Bernoulli numbers.
  const double u = -std::log(x), u2 = u * u;
  constexpr double kBernoulli[] = {1.0 / 6,       -1.0 / 30,      1.0 / 42, -1.0 / 30,
                                   5.0 / 66,      -691.0 / 2730,  7.0 / 6,  -3617.0 / 510,
                                   43867.0 / 798, -174611.0 / 330};
  double sum = u - u2 / 4, power = u;
  double factorial = 1;  // (2k + 1)!
  for (int k = 1; k <= 10; ++k) {
    power *= u2;
    factorial *= static_cast<double>(2 * k) * (2 * k + 1);
    sum += kBernoulli[k - 1] * power / factorial;
  }
  return sum;
}

double FresnelCos(double x) { return Fresnel(x).real(); }

double FresnelSin(double x) { return Fresnel(x).imag(); }

}  // namespace tenon
