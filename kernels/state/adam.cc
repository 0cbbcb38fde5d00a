// Adam and AdaMax (Kingma and Ba, 2014), AMSGrad.
#include <algorithm>
#include <cmath>

#include "kernels/state/apply.h"
#include "kernels/state/optimizers.h"

namespace tenon {
namespace {

template <typename T>
struct Adam {
  static constexpr ApplyInputs kInputs = kAdamInputs;
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

template <typename T>
struct AdaMax {
  static constexpr ApplyInputs kInputs = kAdaMaxInputs;
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

template <typename T>
struct Amsgrad {
  static constexpr ApplyInputs kInputs = kAmsgradInputs;
  Amsgrad(const AttrReader&, const Scalars<T>& scalar)
      : rate(scalar(6) * std::sqrt(T(1) - scalar(5)) / (T(1) - scalar(4))),
        beta1(scalar(7)),
        beta2(scalar(8)),
        epsilon(scalar(9)) {}
  void operator()(T g, T* v) const {
    v[1] += (g - v[1]) * (T(1) - beta1);
    v[2] += (g * g - v[2]) * (T(1) - beta2);
    v[3] = std::max(v[3], v[2]);
    v[0] -= v[1] * rate / (std::sqrt(v[3]) + epsilon);
  }
  T rate, beta1, beta2, epsilon;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AdamKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<Adam>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> AdaMaxKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<AdaMax, Floats>(p, rows);
}

absl::StatusOr<std::unique_ptr<Kernel>> AmsgradKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<Amsgrad, Floats>(p, rows);
}

}  // namespace tenon
