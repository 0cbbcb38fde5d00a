// FTRL-proximal (McMahan et al., 2013), and V2, whose l2_shrinkage adds a plain L2 penalty.
#include <cmath>

#include "kernels/state/apply.h"
#include "ops/op.h"
#include "ops/state/apply_shape.h"

namespace tenon {
namespace {

// Inputs: var, accum, linear, grad, lr, l1, l2, [l2_shrinkage,] lr_power.
template <typename T, bool kShrinkage>
struct FtrlFormula {
  static constexpr int kVariables = 3, kGradient = 3;
  FtrlFormula(const AttrReader& attrs, const Scalars<T>& scalar)
      : rate(scalar(4)),
        l1(scalar(5)),
        l2(scalar(6)),
        shrinkage(kShrinkage ? scalar(7) : T(0)),
        power(scalar(kShrinkage ? 8 : 7)),
        linear_has_rate(attrs.Bool("multiply_linear_by_lr", false)) {}
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

constexpr char kAttrs[] = "T: type; use_locking: bool = false; multiply_linear_by_lr: bool = false";

const OpRegistration ftrl({
    .name = "ResourceApplyFtrl",
    .inputs = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, "
              "lr_power: T",
    .attrs = kAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<Ftrl>,
    .reference = Apply<Ftrl>,
    .stateful = true,
});

const OpRegistration ftrl_v2({
    .name = "ResourceApplyFtrlV2",
    .inputs = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, "
              "l2_shrinkage: T, lr_power: T",
    .attrs = kAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ApplyShape<FtrlV2>,
    .reference = Apply<FtrlV2>,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
