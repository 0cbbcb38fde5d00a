// Adagrad, Adadelta and RMSProp: rates scaled by the history of squared gradients.
#include <cmath>

#include "kernels/state/apply.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

template <typename T>
struct Adagrad {
  static constexpr int kVariables = 2, kGradient = 3;
  Adagrad(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), update_slots(attrs.Bool("update_slots", true)) {}
  void operator()(T g, T* v) const {
    if (update_slots) v[1] += g * g;
    v[0] -= g * rate / std::sqrt(v[1]);
  }
  T rate;
  bool update_slots;
};

// Inputs: var, accum, lr, epsilon, grad.
template <typename T>
struct AdagradV2 {
  static constexpr int kVariables = 2, kGradient = 4;
  AdagradV2(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), epsilon(scalar(3)), update_slots(attrs.Bool("update_slots", true)) {}
  void operator()(T g, T* v) const {
    if (update_slots) v[1] += g * g;
    v[0] -= g * rate / (std::sqrt(v[1]) + epsilon);
  }
  T rate, epsilon;
  bool update_slots;
};

// Zeiler, 2012. Inputs: var, accum, accum_update, lr, rho, epsilon, grad.
template <typename T>
struct Adadelta {
  static constexpr int kVariables = 3, kGradient = 6;
  Adadelta(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(3)), rho(scalar(4)), epsilon(scalar(5)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * rho + g * g * (T(1) - rho);
    const T update = std::sqrt(v[2] + epsilon) / std::sqrt(v[1] + epsilon) * g;
    v[0] -= update * rate;
    v[2] = v[2] * rho + update * update * (T(1) - rho);
  }
  T rate, rho, epsilon;
};

// Inputs: var, ms, mom, lr, rho, momentum, epsilon, grad.
template <typename T>
struct RmsProp {
  static constexpr int kVariables = 3, kGradient = 7;
  RmsProp(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(3)), rho(scalar(4)), momentum(scalar(5)), epsilon(scalar(6)) {}
  void operator()(T g, T* v) const {
    v[1] += (g * g - v[1]) * (T(1) - rho);
    v[2] = v[2] * momentum + g * rate / std::sqrt(v[1] + epsilon);
    v[0] -= v[2];
  }
  T rate, rho, momentum, epsilon;
};

// Inputs: var, mg, ms, mom, lr, rho, momentum, epsilon, grad.
template <typename T>
struct CenteredRmsProp {
  static constexpr int kVariables = 4, kGradient = 8;
  CenteredRmsProp(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(4)), rho(scalar(5)), momentum(scalar(6)), epsilon(scalar(7)) {}
  void operator()(T g, T* v) const {
    v[2] += (g * g - v[2]) * (T(1) - rho);
    v[1] += (g - v[1]) * (T(1) - rho);
    v[3] = v[3] * momentum + g * rate / std::sqrt(v[2] - v[1] * v[1] + epsilon);
    v[0] -= v[3];
  }
  T rate, rho, momentum, epsilon;
};

const OpRegistration adagrad({
    .name = "ResourceApplyAdagrad",
    .inputs = "var: resource, accum: resource, lr: T, grad: T",
    .attrs = "T: type; use_locking: bool = false; update_slots: bool = true",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<Adagrad>,
    .reference = Apply<Adagrad>,
    .stateful = true,
});

const OpRegistration adagrad_v2({
    .name = "ResourceApplyAdagradV2",
    .inputs = "var: resource, accum: resource, lr: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false; update_slots: bool = true",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<AdagradV2>,
    .reference = Apply<AdagradV2>,
    .stateful = true,
});

const OpRegistration adadelta({
    .name = "ResourceApplyAdadelta",
    .inputs = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, "
              "grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<Adadelta>,
    .reference = Apply<Adadelta>,
    .stateful = true,
});

const OpRegistration rms_prop({
    .name = "ResourceApplyRMSProp",
    .inputs = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, "
              "grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<RmsProp>,
    .reference = Apply<RmsProp>,
    .stateful = true,
});

const OpRegistration centered_rms_prop({
    .name = "ResourceApplyCenteredRMSProp",
    .inputs = "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, "
              "momentum: T, epsilon: T, grad: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<CenteredRmsProp>,
    .reference = Apply<CenteredRmsProp>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
