// Adam and AdaMax (Kingma and Ba, 2014).
#include <algorithm>
#include <cmath>

#include "kernels/state/apply.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

// Inputs: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
template <typename T>
struct Adam {
  static constexpr int kVariables = 3, kGradient = 9;
  Adam(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(5) * std::sqrt(T(1) - scalar(4)) / (T(1) - scalar(3))),
        beta1(scalar(6)),
        beta2(scalar(7)),
        epsilon(scalar(8)),
        nesterov(attrs.Bool("use_nesterov", false)) {}
  void operator()(T g, T* v) const {
    v[1] += (g - v[1]) * (T(1) - beta1);
    v[2] += (g * g - v[2]) * (T(1) - beta2);
    const T direction = nesterov ? g * (T(1) - beta1) + beta1 * v[1] : v[1];
    v[0] -= direction * rate / (std::sqrt(v[2]) + epsilon);
  }
  T rate, beta1, beta2, epsilon;
  bool nesterov;
};

// Inputs: var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad.
template <typename T>
struct AdaMax {
  static constexpr int kVariables = 3, kGradient = 8;
  AdaMax(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(4) / (T(1) - scalar(3))),
        beta1(scalar(5)),
        beta2(scalar(6)),
        epsilon(scalar(7)) {}
  void operator()(T g, T* v) const {
    v[1] += (g - v[1]) * (T(1) - beta1);
    v[2] = std::max(beta2 * v[2], std::abs(g));
    v[0] -= rate * (v[1] / (v[2] + epsilon));
  }
  T rate, beta1, beta2, epsilon;
};

const OpRegistration adam({
    .name = "ResourceApplyAdam",
    .inputs = "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, "
              "beta1: T, beta2: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false; use_nesterov: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<Adam>,
    .reference = Apply<Adam>,
    .stateful = true,
});

const OpRegistration ada_max({
    .name = "ResourceApplyAdaMax",
    .inputs = "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, "
              "beta2: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<AdaMax>,
    .reference = Apply<AdaMax>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
