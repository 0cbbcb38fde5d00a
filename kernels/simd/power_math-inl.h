// Powers of floats on vectors, for the target being compiled. Like math-inl.h, it is compiled once
// per instruction set.
#if defined(TENON_KERNELS_SIMD_POWER_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_POWER_MATH_INL_H_
#undef TENON_KERNELS_SIMD_POWER_MATH_INL_H_
#else
#define TENON_KERNELS_SIMD_POWER_MATH_INL_H_
#endif

#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

using DoubleTag = hn::Repartition<double, FloatTag>;
using Vd = hn::Vec<DoubleTag>;

// y log2(2^e m) for m in [sqrt(1/2), sqrt(2)], between -250 and 250. In double, because an error of
// the product is one of the power's exponent. With s = (m - 1) / (m + 1), log2(m) = s P(s^2),
// within 6e-12 of it.
HWY_INLINE Vd PowerExponent(Vd m, Vd e, Vd y) {
  const DoubleTag d;
  const Vd one = hn::Set(d, 1.0);
  const Vd s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const Vd z = hn::Mul(s, s);
  Vd p = hn::Set(d, 0.34079993166559314);
  p = hn::MulAdd(p, z, hn::Set(d, 0.41166808265593341));
  p = hn::MulAdd(p, z, hn::Set(d, 0.57708368766351836));
  p = hn::MulAdd(p, z, hn::Set(d, 0.96179667249782552));
  p = hn::MulAdd(p, z, hn::Set(d, 2.8853900817919684));
  const Vd product = hn::Mul(y, hn::MulAdd(s, p, e));
  return hn::Min(hn::Max(product, hn::Set(d, -250.0)), hn::Set(d, 250.0));
}

HWY_INLINE Vd WidenedLower(Vf x) { return hn::PromoteTo(DoubleTag(), hn::LowerHalf(x)); }
HWY_INLINE Vd WidenedUpper(Vf x) {
  return hn::PromoteTo(DoubleTag(), hn::UpperHalf(hn::Half<FloatTag>(), x));
}
HWY_INLINE Vf NarrowedPair(Vd lower, Vd upper) {
  const hn::Half<FloatTag> half;
  return hn::Combine(FloatTag(), hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
}

// x^y for 0 < x < infinity.
HWY_INLINE Vf PowerOfPositive(Vf x, Vf y) {
  const auto subnormal = hn::Lt(x, Const(std::numeric_limits<float>::min()));
  Vf e;
  const Vf m = MantissaNearOne(hn::IfThenElse(subnormal, hn::Mul(x, Const(8388608.0f)), x), e);
  e = hn::Add(e, hn::IfThenElseZero(subnormal, Const(-23.0f)));
  const Vd lower = PowerExponent(WidenedLower(m), WidenedLower(e), WidenedLower(y));
  const Vd upper = PowerExponent(WidenedUpper(m), WidenedUpper(e), WidenedUpper(y));
  // 2^(q + f) with |f| <= 1/2.
  const Vd whole_lower = hn::Round(lower), whole_upper = hn::Round(upper);
  const Vf f = NarrowedPair(hn::Sub(lower, whole_lower), hn::Sub(upper, whole_upper));
  const auto q = hn::ConvertTo(IntTag(), NarrowedPair(whole_lower, whole_upper));
  const Vf p = Horner(f, 6.931471825e-01f, 2.402264774e-01f, 5.550359562e-02f, 9.618503042e-03f,
                      1.339099836e-03f, 1.532783936e-04f);
  const auto half = hn::ShiftRight<1>(q);
  return hn::Mul(hn::Mul(hn::MulAdd(f, p, Const(1.0f)), PowerOfTwo(half)),
                 PowerOfTwo(hn::Sub(q, half)));
}

// The special cases are those of std::pow.
HWY_INLINE Vf Pow(Vf x, Vf y) {
  const Vf ax = hn::Abs(x), zero = hn::Zero(FloatTag()), one = Const(1.0f);
  const Vf half_y = hn::Mul(y, Const(0.5f));
  const auto whole = hn::Eq(hn::Round(y), y);
  const auto odd = hn::AndNot(hn::Eq(hn::Round(half_y), half_y), whole);
  const auto is_zero = hn::Eq(ax, zero), is_infinite = hn::Eq(ax, Infinity());
  // Powers of 0 and infinity are either.
  const Vf end = hn::IfThenZeroElse(hn::Xor(is_zero, hn::Lt(y, zero)), Infinity());
  Vf z = hn::IfThenElse(hn::Or(is_zero, is_infinite), end, PowerOfPositive(ax, y));
  z = hn::IfThenElse(hn::Eq(ax, one), one, z);  // to the power of infinity, too
  z = hn::IfThenElse(odd, hn::CopySign(z, x), z);
  const auto undefined =
      hn::And(hn::AndNot(whole, hn::Lt(x, zero)), hn::Not(hn::Or(is_zero, is_infinite)));
  z = hn::IfThenElse(undefined, Const(std::numeric_limits<float>::quiet_NaN()), z);
  z = KeepNaN(x, KeepNaN(y, z));
  return hn::IfThenElse(hn::Or(hn::Eq(x, one), hn::Eq(y, zero)), one, z);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
