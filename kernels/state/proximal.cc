// Steps whose result minimizes L1 and L2 penalties as well: Adagrad with dual averaging, proximal
// Adagrad, proximal gradient descent.
#include <algorithm>
#include <cmath>

#include "kernels/state/apply.h"
#include "kernels/state/optimizers.h"

namespace tenon {
namespace {

// v moved towards 0 by l1 times the scale, but not past it.
template <typename T>
T Shrunk(T v, T l1, T scale) {
  if (!(l1 > T(0))) return v;
  return T((v > T(0)) - (v < T(0))) * std::max(std::abs(v) - l1 * scale, T(0));
}

template <typename T>
absl::Status CheckRates(T rate, T l1, T l2) {
  if (!(rate > T(0))) return InvalidArgument("lr must be positive");
  if (!(l1 >= T(0)) || !(l2 >= T(0))) return InvalidArgument("l1 and l2 must not be negative");
  return absl::OkStatus();
}

template <typename T>
struct AdagradDa {
  static constexpr ApplyInputs kInputs = kAdagradDaInputs;
  AdagradDa(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(4)), l1(scalar(5)), l2(scalar(6)), step(scalar.Step(7)) {}
  void operator()(T g, T* v) const {
    v[1] += g;
    v[2] += g * g;
    v[0] = -rate * Shrunk(v[1], l1, step) / (l2 * step * rate + std::sqrt(v[2]));
  }
  T rate, l1, l2, step;
};

template <typename T>
struct ProximalGradientDescent {
  static constexpr ApplyInputs kInputs = kProximalGradientDescentInputs;
  ProximalGradientDescent(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(1)), l1(scalar(2)), l2(scalar(3)) {}
  void operator()(T g, T* v) const {
    v[0] = Shrunk(v[0] - rate * g, l1, rate) / (T(1) + l2 * rate);
  }
  T rate, l1, l2;
};

template <typename T>
struct ProximalAdagrad {
  static constexpr ApplyInputs kInputs = kProximalAdagradInputs;
  ProximalAdagrad(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(2)), l1(scalar(3)), l2(scalar(4)) {}
  absl::Status Check() const { return CheckRates(rate, l1, l2); }
  void operator()(T g, T* v) const {
    v[1] += g * g;
    const T own = rate / std::sqrt(v[1]);
    v[0] = Shrunk(v[0] - own * g, l1, own) / (T(1) + l2 * own);
  }
  T rate, l1, l2;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AdagradDaKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<AdagradDa, Floats>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> ProximalGradientDescentKernel(PrepareContext& p,
                                                                      ApplyRows rows) {
  return Apply<ProximalGradientDescent, Floats>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> ProximalAdagradKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<ProximalAdagrad, Floats>(p, rows);
}

}  // namespace tenon
