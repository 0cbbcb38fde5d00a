// Incomplete gamma (Igamma, Igammac, IgammaGradA) and beta (Betainc) functions, Hurwitz's Zeta,
// Polygamma, and Ndtri (the quantile function of the normal distribution).
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <type_traits>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/elementwise/formulas.h"
#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/unary_binary.h"
#include "kernels/interface/parallel.h"
#include "ops/op.h"

namespace tenon {
namespace {

using FloatAndDouble = TypeList<float, double>;

constexpr auto kIgamma = [](auto a, auto x) { return Eigen::numext::igamma(a, x); };
constexpr auto kIgammac = [](auto a, auto x) { return Eigen::numext::igammac(a, x); };
constexpr auto kIgammaGradA = [](auto a, auto x) { return Eigen::numext::igamma_der_a(a, x); };

// Eigen converts the order to an integer to see whether it is even, if q is 0, -1, -2…; every
// number of this size is.
template <typename T>
bool IsPoleOfHugeOrder(T order, T q) {
  return order >= T(0x1p63) && q <= 0 && q == std::floor(q);
}

// In double, Eigen adds a term for each integer between q and 9, one after the other. Far below 0,
// the terms on either side of 0 are two sums that begin there:
//   zeta(x, q) = (-1)^x (zeta(x, 1 - f) - zeta(x, 1 - q)) + zeta(x, f), f = q - floor(q)
template <typename T>
bool IsFarBelowZero(T order, T q) {
  return std::is_same_v<T, double> && q < -1000 && q != std::floor(q) && order > 1 &&
         order == std::floor(order);
}
template <typename T>
T ZetaFarBelowZero(T x, T q) {
  const T f = q - std::floor(q);
  const T below = Eigen::numext::zeta(x, 1 - f) - Eigen::numext::zeta(x, 1 - q);
  return (std::fmod(x, T(2)) == 0 ? below : -below) + Eigen::numext::zeta(x, f);
}

// Whether already the first and largest term, q^-x, is too small to be told from 0. Eigen then
// multiplies it by infinity.
template <typename T>
bool IsTiny(T x, T q) {
  return x > 1 && q > 0 && std::pow(q, -x) == 0;
}

constexpr auto kZeta = []<typename T>(T x, T q) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (IsPoleOfHugeOrder(x, q)) return kInfinity;
  if (x == kInfinity && q > 0)
    return q < 1 ? kInfinity : T(q == 1 ? 1 : 0);  // q^-x, the first term
  if (IsTiny(x, q)) return T(0);
  if (IsFarBelowZero(x, q)) return ZetaFarBelowZero(x, q);
  const T y = Eigen::numext::zeta(x, q);
  // TensorFlow ends the sum where its terms are too small, also if larger ones would follow.
  const bool has_value = x > 1 && x == std::floor(x) && q < 0 && q != std::floor(q);
  return std::isnan(y) && has_value ? std::pow(q, -x) : y;
};
constexpr auto kPolygamma = []<typename T>(T n, T x) {  // calls zeta(n + 1, x)
  if (IsPoleOfHugeOrder(n, x)) return std::numeric_limits<T>::infinity();
  if (n == std::floor(n) && IsTiny(n + 1, x)) {
    const T zero = std::exp(Eigen::numext::lgamma(n + 1)) * T(0);
    return std::fmod(n, T(2)) == 0 ? -zero : zero;
  }
  if (IsFarBelowZero(n + 1, x)) {
    const T magnitude = std::exp(Eigen::numext::lgamma(n + 1)) * ZetaFarBelowZero(n + 1, x);
    return std::fmod(n, T(2)) == 0 ? -magnitude : magnitude;
  }
  return Eigen::numext::polygamma(n, x);
};

// Three shapes that are equal unless they are scalars.
absl::Status BetaincShape(ShapeContext& c) {
  Shape out;
  for (int i = 0; i < 3; ++i) {
    const Shape& in = c.input(i);
    if (!in.has_rank()) {
      c.set_output(0, Shape::Unknown());
      return absl::OkStatus();
    }
    if (in.rank() == 0) continue;
    if (out.rank() == 0) {
      out = in;
    } else if (!out.CompatibleWith(in)) {
      return InvalidArgument("a, b and x must have one shape or be scalars: ", out.ToString(),
                             " and ", in.ToString());
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Betainc(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  int64_t steps[3];
  for (int i = 0; i < 3; ++i) steps[i] = p.input_shape(i).rank() == 0 ? 0 : 1;
  const int64_t sa = steps[0], sb = steps[1], sx = steps[2];
  const int threads = p.services().threads;
  return DispatchType(FloatAndDouble{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* a = run.input<T>(0);
      const T* b = run.input<T>(1);
      const T* x = run.input<T>(2);
      T* z = run.output<T>(0);
      ParallelFor(threads, n, ParallelGrain(kSeriesNs), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          z[i] = Eigen::numext::betainc(a[i * sa], b[i * sb], x[i * sx]);
        }
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration igamma_op({
    .name = "Igamma",
    .inputs = "a: T, x: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kIgamma, Floats, kSeriesNs>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration igammac_op({
    .name = "Igammac",
    .inputs = "a: T, x: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kIgammac, Floats, kSeriesNs>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration igamma_grad_a_op({
    .name = "IgammaGradA",
    .inputs = "a: T, x: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kIgammaGradA, FloatAndDouble, kSeriesNs>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration zeta_op({
    .name = "Zeta",
    .inputs = "x: T, q: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kZeta, FloatAndDouble, kSeriesNs>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration polygamma_op({
    .name = "Polygamma",
    .inputs = "a: T, x: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kPolygamma, FloatAndDouble>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration ndtri_op({
    .name = "Ndtri",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<Formula<ElementwiseOp::kNdtri>{}, Floats>,
    .accelerated = VectorUnary<ElementwiseOp::kNdtri>,
    .native = "_MklNativeNdtri",
    .native_types = "float bfloat16",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration betainc_op({
    .name = "Betainc",
    .inputs = "a: T, b: T, x: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = BetaincShape,
    .reference = Betainc,
    .error_bound = ErrorBound::kSpecialFunction,
});

}  // namespace
}  // namespace tenon
