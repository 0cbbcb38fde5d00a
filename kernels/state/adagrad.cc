// Adagrad, Adadelta and RMSProp: learning rates scaled by the history of squared gradients.
#include <cmath>

#include "kernels/state/apply.h"
#include "kernels/state/optimizers.h"

namespace tenon {
namespace {

template <typename T>
struct Adagrad {
  static constexpr ApplyInputs kInputs = kAdagradInputs;
  Adagrad(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), update_slots(attrs.Bool("update_slots", true)) {}
  void operator()(T g, T* v) const {
    if (update_slots) v[1] += g * g;
    v[0] -= g * rate / std::sqrt(v[1]);
  }
  T rate;
  bool update_slots;
};

template <typename T>
struct AdagradV2 {
  static constexpr ApplyInputs kInputs = kAdagradV2Inputs;
  AdagradV2(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(2)), epsilon(scalar(3)), update_slots(attrs.Bool("update_slots", true)) {}
  void operator()(T g, T* v) const {
    if (update_slots) v[1] += g * g;
    v[0] -= g * rate / (std::sqrt(v[1]) + epsilon);
  }
  T rate, epsilon;
  bool update_slots;
};

// Zeiler, 2012.
template <typename T>
struct Adadelta {
  static constexpr ApplyInputs kInputs = kAdadeltaInputs;
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

template <typename T>
struct RmsProp {
  static constexpr ApplyInputs kInputs = kRmsPropInputs;
  RmsProp(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(3)), rho(scalar(4)), momentum(scalar(5)), epsilon(scalar(6)) {}
  void operator()(T g, T* v) const {
    v[1] += (g * g - v[1]) * (T(1) - rho);
    v[2] = v[2] * momentum + g * rate / std::sqrt(v[1] + epsilon);
    v[0] -= v[2];
  }
  T rate, rho, momentum, epsilon;
};

template <typename T>
struct CenteredRmsProp {
  static constexpr ApplyInputs kInputs = kCenteredRmsPropInputs;
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

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AdagradKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<Adagrad>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> AdagradV2Kernel(PrepareContext& p, ApplyRows rows) {
  return Apply<AdagradV2>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> AdadeltaKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<Adadelta>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> RmsPropKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<RmsProp>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> CenteredRmsPropKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<CenteredRmsProp>(p, rows);
}

}  // namespace tenon
