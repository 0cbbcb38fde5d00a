#include "kernels/elementwise/quantiles.h"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

namespace tenon {
namespace {

template <typename T>
T QuantileOf(T p) {
  // Not a probability.
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<T>::quiet_NaN();
  return Eigen::numext::ndtri(p);
}

}  // namespace

// Winitzki's approximation, then Newton steps in double. Near +-1 the residual is computed with
// erfc, which does not cancel there.
double InverseErf(double x) {
  if (!(x >= -1 && x <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 1 || x == -1) return x * std::numeric_limits<double>::infinity();
  if (x == 0) return x;
  constexpr double kA = 0.147;
  constexpr double kPi = 3.14159265358979323846;
  const double magnitude = std::abs(x);
  const double log = std::log1p(-x * x);
  const double t = 2 / (kPi * kA) + log / 2;
  double y = std::sqrt(std::sqrt(t * t - log / kA) - t);
  for (int i = 0; i < 4; ++i) {
    const double residual =
        magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    const double step = residual * std::sqrt(kPi) / 2 * std::exp(y * y);
    y -= step / (1 + y * step);  // Halley
  }
  return std::copysign(y, x);
}

float NormalQuantile(float p) { return QuantileOf(p); }
double NormalQuantile(double p) { return QuantileOf(p); }

}  // namespace tenon
