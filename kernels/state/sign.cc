// AddSign and PowerSign (Bello et al., 2017, "Neural optimizer search with reinforcement
// learning").
#include <cmath>

#include "kernels/state/apply.h"
#include "kernels/state/optimizers.h"

namespace tenon {
namespace {

// 1 if gradient and average have one sign, -1 if they have different ones, 0 if one is zero.
template <typename T>
T Agreement(T g, T average) {
  const auto sign = [](T v) { return std::isnan(v) ? v : T((v > T(0)) - (v < T(0))); };
  return sign(g) * sign(average);
}

template <typename T>
struct AddSign {
  static constexpr ApplyInputs kInputs = kAddSignInputs;
  AddSign(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(2)), alpha(scalar(3)), decay(scalar(4)), beta(scalar(5)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * beta + g * (T(1) - beta);
    v[0] -= rate * (alpha + decay * Agreement(g, v[1])) * g;
  }
  T rate, alpha, decay, beta;
};

template <typename T>
struct PowerSign {
  static constexpr ApplyInputs kInputs = kPowerSignInputs;
  PowerSign(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(2)), log_base(scalar(3)), decay(scalar(4)), beta(scalar(5)) {}
  void operator()(T g, T* v) const {
    v[1] = v[1] * beta + g * (T(1) - beta);
    v[0] -= rate * std::exp(log_base * decay * Agreement(g, v[1])) * g;
  }
  T rate, log_base, decay, beta;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AddSignKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<AddSign, Floats>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> PowerSignKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<PowerSign, Floats>(p, rows);
}

}  // namespace tenon
