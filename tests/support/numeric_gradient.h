// Compares a gradient op with differences of the function that it belongs to:
//
//   ExpectNumericGradient([&](const Tensor& x) { return Run("Relu", {x}); }, x, dy, gradient);
//
// checks that gradient[i] is the derivative of sum(dy * f(x)) with respect to x[i]. x is float or
// double.
#ifndef TENON_TESTS_SUPPORT_NUMERIC_GRADIENT_H_
#define TENON_TESTS_SUPPORT_NUMERIC_GRADIENT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tenon::testing {

// A bound on |f'''|: central differences are off by a sixth of it times the square of the step.
struct Curvature {
  double third_derivative = 1;
};

template <typename T>
void ExpectNumericGradientOf(const std::function<absl::StatusOr<Tensor>(const Tensor&)>& f,
                             const Tensor& x, const Tensor& dy, const Tensor& gradient,
                             Curvature curvature) {
  ASSERT_EQ(gradient.shape(), x.shape());
  ASSERT_EQ(gradient.dtype(), x.dtype());
  const double eps = std::numeric_limits<T>::epsilon();
  const double step = std::ldexp(1.0, std::is_same_v<T, double> ? -16 : -7);
  Tensor at = *Tensor::Allocate(x.dtype(), x.shape());
  std::copy_n(x.data<T>(), x.num_elements(), at.template data<T>());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    double difference = 0, rounding = 0, weight = 0;
    for (const double sign : {1.0, -1.0}) {
      at.template data<T>()[i] = static_cast<T>(x.data<T>()[i] + sign * step);
      const absl::StatusOr<Tensor> y = f(at);
      ASSERT_TRUE(y.ok()) << y.status();
      ASSERT_EQ(y->num_elements(), dy.num_elements());
      for (int64_t j = 0; j < dy.num_elements(); ++j) {
        const double term = static_cast<double>(dy.data<T>()[j]) * y->template data<T>()[j];
        difference += sign * term;
        rounding += term * term;
        weight += std::abs(static_cast<double>(dy.data<T>()[j]));
      }
    }
    at.template data<T>()[i] = x.data<T>()[i];
    const double numeric = difference / (2 * step);
    // The terms' rounding errors are independent; the step itself is rounded, too.
    const double allowed = 4 * eps * std::sqrt(rounding) / step +
                           step * step / 6 * curvature.third_derivative * weight +
                           eps / step * (std::abs(numeric) + 1);
    ASSERT_NEAR(gradient.data<T>()[i], numeric, allowed) << "element " << i;
  }
}

inline void ExpectNumericGradient(const std::function<absl::StatusOr<Tensor>(const Tensor&)>& f,
                                  const Tensor& x, const Tensor& dy, const Tensor& gradient,
                                  Curvature curvature = {}) {
  if (x.dtype() == DType::kDouble) {
    ExpectNumericGradientOf<double>(f, x, dy, gradient, curvature);
  } else {
    ExpectNumericGradientOf<float>(f, x, dy, gradient, curvature);
  }
}

}  // namespace tenon::testing

#endif  // TENON_TESTS_SUPPORT_NUMERIC_GRADIENT_H_
