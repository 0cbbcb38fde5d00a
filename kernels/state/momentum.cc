// Gradient descent and momentum.
#include "kernels/state/apply.h"
#include "kernels/state/optimizers.h"

namespace tenon {
namespace {

template <typename T>
struct GradientDescent {
  static constexpr ApplyInputs kInputs = kGradientDescentInputs;
  GradientDescent(const AttrReader&, const Scalars<T>& scalar) : rate(scalar(1)) {}
  void operator()(T g, T* v) const { v[0] -= g * rate; }
  T rate;
};

// accum = accum * momentum + g; the variable decreases by rate * accum (Nesterov: by rate * (g +
// momentum * accum)).
template <typename T>
struct Momentum {
  static constexpr ApplyInputs kInputs = kMomentumInputs;
  Momentum(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), momentum(scalar(4)), nesterov(attrs.Bool("use_nesterov", false)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * momentum + g;
    v[0] -= nesterov ? g * rate + v[1] * momentum * rate : v[1] * rate;
  }
  T rate, momentum;
  bool nesterov;
};

// accum = accum * momentum - rate * g, and the variable changes by accum.
template <typename T>
struct KerasMomentum {
  static constexpr ApplyInputs kInputs = kKerasMomentumInputs;
  KerasMomentum(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), momentum(scalar(4)), nesterov(attrs.Bool("use_nesterov", false)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * momentum - g * rate;
    v[0] += nesterov ? v[1] * momentum - g * rate : v[1];
  }
  T rate, momentum;
  bool nesterov;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> GradientDescentKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<GradientDescent>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> MomentumKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<Momentum>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> KerasMomentumKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<KerasMomentum>(p, rows);
}

}  // namespace tenon
