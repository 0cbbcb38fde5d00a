// FTRL-proximal (McMahan et al., 2013).
#include <cmath>

#include "kernels/state/apply.h"
#include "kernels/state/optimizers.h"

namespace tenon {
namespace {

template <typename T, bool kShrinkage>
struct FtrlFormula {
  static constexpr ApplyInputs kInputs = kShrinkage ? kFtrlV2Inputs : kFtrlInputs;
  FtrlFormula(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(4)),
        l1(scalar(5)),
        l2(scalar(6)),
        shrinkage(kShrinkage ? scalar(7) : T(0)),
        power(scalar(kShrinkage ? 8 : 7)),
        linear_has_rate(attrs.Bool("multiply_linear_by_lr", false)) {}
  absl::Status CheckSparse() const {
    if (!(linear_has_rate ? rate >= T(0) : rate > T(0))) {
      return InvalidArgument("lr must be positive, or 0 with multiply_linear_by_lr");
    }
    if (!(l1 >= T(0)) || !(l2 >= T(0)) || !(shrinkage >= T(0))) {
      return InvalidArgument("l1, l2 and l2_shrinkage must not be negative");
    }
    if (!(power <= T(0))) return InvalidArgument("lr_power must not be positive");
    return absl::OkStatus();
  }
  // accum ^ -power; power is usually -1/2.
  T Root(T accum) const { return power == T(-0.5) ? std::sqrt(accum) : std::pow(accum, -power); }
  void operator()(T g, T* v) const {
    const T accum = v[1] + g * g;
    const T shrunk = g + T(2) * shrinkage * v[0];
    const T growth = Root(accum) - Root(v[1]);
    T limit = l1, divisor;
    if (linear_has_rate) {
      v[2] += shrunk * rate - growth * v[0];
      limit = l1 * rate;
      divisor = Root(accum) + T(2) * l2 * rate;
    } else {
      v[2] += shrunk - growth / rate * v[0];
      divisor = Root(accum) / rate + T(2) * l2;
    }
    v[0] = std::abs(v[2]) > limit ? (std::copysign(limit, v[2]) - v[2]) / divisor : T(0);
    v[1] = accum;
  }
  T rate, l1, l2, shrinkage, power;
  bool linear_has_rate;
};

template <typename T>
using Ftrl = FtrlFormula<T, false>;

template <typename T>
using FtrlV2 = FtrlFormula<T, true>;

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FtrlKernel(PrepareContext& p, ApplyRows rows) {
  return Apply<Ftrl, Floats>(p, rows);
}
absl::StatusOr<std::unique_ptr<Kernel>> FtrlV2Kernel(PrepareContext& p, ApplyRows rows) {
  return Apply<FtrlV2, Floats>(p, rows);
}

}  // namespace tenon
