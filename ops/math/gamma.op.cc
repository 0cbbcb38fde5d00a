// Lgamma (log of the magnitude of the gamma function) and Digamma (its logarithmic derivative).
#include <cmath>
#include <limits>

#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/tabulated.h"
#include "ops/op.h"

namespace tenon {
namespace {

// lgamma_r, because lgamma writes a global variable.
double LogGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}
long double ExactLogGamma(long double x) {
  int sign;
  return ::lgammal_r(x, &sign);
}
float LogGamma(float x) {
  int sign;
  return ::lgammaf_r(x, &sign);
}
constexpr auto kLgamma = [](auto x) { return LogGamma(x); };

// Reflection for negative numbers, recurrence up to 10, then the asymptotic series.
double DigammaOf(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
  double reflected = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();  // a pole
    const double to_nearest = x - std::nearbyint(x);  // exact, near a pole too
    reflected = -kPi / std::tan(kPi * to_nearest);
    x = 1 - x;
  }
  long double sum = 0;  // near the zero at 1.46 it cancels against the logarithm
  for (; x < 10; x += 1) sum -= 1 / static_cast<long double>(x);
  const double z = 1 / (x * x);
  // Bernoulli numbers B2k / 2k.
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return static_cast<double>(sum + std::log(static_cast<long double>(x)) - 0.5 / x - series) +
         reflected;
}
constexpr auto kDigamma = [](auto x) { return static_cast<decltype(x)>(DigammaOf(x)); };

const OpRegistration lgamma_op({
    .name = "Lgamma",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kLgamma, Floats>,
    .accelerated = TabulatedUnary<
        kLgamma, Intervals{-10, 10, 32, Symmetry::kNone, /*has_zeros=*/true}, &ExactLogGamma>,
    .native = "_MklNativeLgamma",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration digamma_op({
    .name = "Digamma",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kDigamma, Floats>,
    .accelerated =
        TabulatedUnary<kDigamma, Intervals{-10, 10, 32, Symmetry::kNone, /*has_zeros=*/true}>,
    .native = "_MklNativeDigamma",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kDigamma,
});

}  // namespace
}  // namespace tenon
