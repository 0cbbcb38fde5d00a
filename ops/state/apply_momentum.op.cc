// Gradient descent, and momentum in TensorFlow's and in Keras' form.
#include "kernels/state/apply.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

template <typename T>
struct GradientDescent {
  static constexpr int kVariables = 1, kGradient = 2;
  GradientDescent(const AttrReader&, const Scalars<T>& scalar) : rate(scalar(1)) {}
  void operator()(T g, T* v) const { v[0] -= g * rate; }
  T rate;
};

// accum = accum * momentum + g; the variable goes down by rate * accum (Nesterov: by
// rate * (g + momentum * accum)).
template <typename T>
struct Momentum {
  static constexpr int kVariables = 2, kGradient = 3;
  Momentum(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), momentum(scalar(4)), nesterov(attrs.Bool("use_nesterov", false)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * momentum + g;
    v[0] -= nesterov ? g * rate + v[1] * momentum * rate : v[1] * rate;
  }
  T rate, momentum;
  bool nesterov;
};

// accum = accum * momentum - rate * g, and the variable moves by accum.
template <typename T>
struct KerasMomentum {
  static constexpr int kVariables = 2, kGradient = 3;
  KerasMomentum(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), momentum(scalar(4)), nesterov(attrs.Bool("use_nesterov", false)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * momentum - g * rate;
    v[0] += nesterov ? v[1] * momentum - g * rate : v[1];
  }
  T rate, momentum;
  bool nesterov;
};

const OpRegistration gradient_descent({
    .name = "ResourceApplyGradientDescent",
    .inputs = "var: resource, alpha: T, delta: T",
    .attrs = "T: type; use_locking: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<GradientDescent>,
    .reference = Apply<GradientDescent>,
    .stateful = true,
});

constexpr char kMomentumInputs[] = "var: resource, accum: resource, lr: T, grad: T, momentum: T";
constexpr char kMomentumAttrs[] = "T: type; use_locking: bool = false; use_nesterov: bool = false";

const OpRegistration momentum_op({
    .name = "ResourceApplyMomentum",
    .inputs = kMomentumInputs,
    .attrs = kMomentumAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<Momentum>,
    .reference = Apply<Momentum>,
    .stateful = true,
});

const OpRegistration keras_momentum({
    .name = "ResourceApplyKerasMomentum",
    .inputs = kMomentumInputs,
    .attrs = kMomentumAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<KerasMomentum>,
    .reference = Apply<KerasMomentum>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
