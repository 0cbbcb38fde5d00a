// Erf, Erfc, Erfinv.
#include <cmath>
#include <limits>

#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

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
constexpr auto kErfinv = [](auto x) { return static_cast<decltype(x)>(InverseErf(x)); };

const OpRegistration erf_op({
    .name = "Erf",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kErf>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kErf>,
    .native = "_MklNativeErf",
    .native_types = "float bfloat16",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration erfc_op({
    .name = "Erfc",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kErfc>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kErfc>,
    .native = "_MklNativeErfc",
    .native_types = "float bfloat16",
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

const OpRegistration erfinv_op({
    .name = "Erfinv",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kErfinv, Floats>,
    .elementwise = true,
    .error_bound = ErrorBound::kTranscendental,
});

}  // namespace
}  // namespace tenon
