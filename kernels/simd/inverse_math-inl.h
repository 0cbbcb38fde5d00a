// Inverse functions on float vectors, for the target being compiled: of sine, cosine and tangent,
// their hyperbolic forms, and the error function. Like math-inl.h, it is compiled once per
// instruction set.
//
// Polynomials are weighted minimax fits over the stated range, whose coefficients were rounded to
// float one after another, each followed by a fit of the rest.
#if defined(TENON_KERNELS_SIMD_INVERSE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_INVERSE_MATH_INL_H_
#undef TENON_KERNELS_SIMD_INVERSE_MATH_INL_H_
#else
#define TENON_KERNELS_SIMD_INVERSE_MATH_INL_H_
#endif

#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// pi and pi / 2 as sums of two floats.
constexpr float kPiHigh = 3.14159274f, kPiLow = -8.74227766e-08f;
constexpr float kHalfPiHigh = kPiHigh / 2, kHalfPiLow = kPiLow / 2;

// pi / 2 - a for |a| below 1.6.
HWY_INLINE Vf FromHalfPi(Vf a) {
  return hn::Sub(Const(kHalfPiHigh), hn::Sub(a, Const(kHalfPiLow)));
}

// ---- arc tangent ----

// atan(q) for 0 <= q <= 1: q + q^3 P(q^2), within 3e-9 of it.
HWY_INLINE Vf AtanUpToOne(Vf q) {
  const Vf z = hn::Mul(q, q);
  const Vf p = Horner(z, -3.333329856e-01f, 1.999852955e-01f, -1.426401585e-01f, 1.095088050e-01f,
                      -8.399306238e-02f, 5.788139254e-02f, -3.109700233e-02f, 1.086870953e-02f,
                      -1.782831969e-03f);
  return hn::MulAdd(hn::Mul(q, z), p, q);
}

// Above 1, atan(x) = pi / 2 - atan(1 / x).
HWY_INLINE Vf Atan(Vf x) {
  const Vf ax = hn::Abs(x), one = Const(1.0f);
  const auto large = hn::Gt(ax, one);
  const Vf a = AtanUpToOne(hn::IfThenElse(large, hn::Div(one, ax), ax));
  return KeepNaN(x, hn::CopySign(hn::IfThenElse(large, FromHalfPi(a), a), x));
}

// The angle a of the smaller of |x| and |y| over the larger, turned into the octant of (x, y):
// a or pi / 2 - a to the right, pi - a or pi / 2 + a to the left of 0, and of -0.
HWY_INLINE Vf Atan2(Vf y, Vf x) {
  const FloatTag d;
  const Vf ax = hn::Abs(x), ay = hn::Abs(y), zero = hn::Zero(d);
  const auto steep = hn::Gt(ay, ax);
  const Vf smaller = hn::IfThenElse(steep, ax, ay), larger = hn::IfThenElse(steep, ay, ax);
  // 0 / 0 counts as 0, and infinity / infinity as 1.
  Vf q = hn::IfThenZeroElse(hn::Eq(larger, zero), hn::Div(smaller, larger));
  q = hn::IfThenElse(hn::Eq(smaller, Infinity()), Const(1.0f), q);
  const Vf a = AtanUpToOne(q);
  const auto left = hn::Lt(hn::CopySign(Const(1.0f), x), zero);
  const Vf high =
      hn::IfThenElse(steep, Const(kHalfPiHigh), hn::IfThenElseZero(left, Const(kPiHigh)));
  const Vf low = hn::IfThenElse(steep, Const(kHalfPiLow), hn::IfThenElseZero(left, Const(kPiLow)));
  const Vf turned = hn::IfThenElse(hn::Xor(steep, left), hn::Neg(a), a);
  const Vf angle = hn::CopySign(hn::Add(high, hn::Add(turned, low)), y);
  return KeepNaN(x, KeepNaN(y, angle));
}

// ---- arc sine and arc cosine ----

// Up to here the arc sine is a polynomial. A little above 1/2, so that pi / 2 minus the result of
// the other formula loses no bits.
constexpr float kAsinSplit = 0.56f;

// With s <= kAsinSplit and z = s^2: asin(s) = s + s z P(z), within 2e-9 of it.
HWY_INLINE Vf AsinOfSmall(Vf s, Vf z) {
  const Vf p = Horner(z, 1.666663140e-01f, 7.502097636e-02f, 4.423220083e-02f, 3.401068971e-02f,
                      6.742876489e-03f, 4.748348147e-02f);
  return hn::MulAdd(hn::Mul(s, z), p, s);
}

// acos(ax) for ax >= kAsinSplit, as 2 asin(sqrt((1 - ax) / 2)); the difference is exact. NaN above
// 1.
HWY_INLINE Vf AcosOfLarge(Vf ax) {
  const Vf z = hn::Mul(hn::Sub(Const(1.0f), ax), Const(0.5f));
  const Vf a = AsinOfSmall(hn::Sqrt(z), z);
  return hn::Add(a, a);
}

HWY_INLINE Vf Asin(Vf x) {
  const Vf ax = hn::Abs(x);
  const Vf large = hn::CopySign(FromHalfPi(AcosOfLarge(ax)), x);
  const Vf small = AsinOfSmall(x, hn::Mul(x, x));
  return hn::IfThenElse(hn::Lt(ax, Const(kAsinSplit)), small, large);
}

HWY_INLINE Vf Acos(Vf x) {
  const Vf ax = hn::Abs(x);
  const Vf a = AcosOfLarge(ax);
  const Vf mirrored = hn::Sub(Const(kPiHigh), hn::Sub(a, Const(kPiLow)));
  const Vf large = hn::IfThenElse(hn::Lt(x, hn::Zero(FloatTag())), mirrored, a);
  const Vf small = FromHalfPi(AsinOfSmall(x, hn::Mul(x, x)));
  return hn::IfThenElse(hn::Lt(ax, Const(kAsinSplit)), small, large);
}

// ---- the inverse of the error function ----
//
// With w = -ln(1 - x^2) and t = sqrt(w), erfinv(x) is x + x P(w) up to w = 5, and t + Q(t) above:
// smooth functions, in which the error of the logarithm counts little.

constexpr float kErfinvSplit = 5.0f;

// erfinv(x) / x - 1 for 0 <= w <= 5, within 7e-9.
HWY_INLINE Vf ErfinvNear(Vf w) {
  return Horner(w, -1.137730777e-01f, 2.320138067e-01f, 1.154865976e-02f, -2.334251767e-03f,
                -1.275668037e-04f, 4.463246660e-05f, 3.955135526e-06f, -1.969957339e-06f,
                2.202426685e-07f, -8.752023106e-09f);
}

// erfinv(x) - t for sqrt(5) <= t <= 4, where the float below 1 is, within 2e-9 of erfinv(x).
HWY_INLINE Vf ErfinvFar(Vf t) {
  return Horner(hn::Sub(t, Const(3.0f)), -1.671980172e-01f, 2.662381623e-03f, 6.843610201e-03f,
                -3.445036942e-03f, 1.143614994e-03f, -2.212622785e-04f, -4.117729259e-05f,
                5.678315210e-05f, -1.731969132e-05f);
}

// Likewise for 4 <= t <= 10.1, where 1 - |x| is the smallest denormal, within 9e-9.
HWY_INLINE Vf ErfinvFarthest(Vf t) {
  return Horner(hn::Sub(t, Const(7.0f)), -1.309803128e-01f, 8.595503867e-03f, -5.128767807e-04f,
                6.473285339e-06f, 6.249828402e-06f, -1.705584623e-06f, 2.569483399e-07f,
                -3.774404789e-08f, 1.509363479e-08f, -2.615019090e-09f);
}

HWY_INLINE Vf Erfinv(Vf x) {
  const Vf ax = hn::Abs(x), one = Const(1.0f);
  const Vf w = hn::Neg(Log(hn::Mul(hn::Sub(one, ax), hn::Add(one, ax))));
  const Vf t = hn::Sqrt(w);
  const Vf near = hn::MulAdd(ax, ErfinvNear(w), ax);
  const Vf far = hn::IfThenElse(hn::Eq(t, Infinity()), t, hn::Add(t, ErfinvFar(t)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(w, Const(kErfinvSplit)), near, far), x);
}

// sqrt(2) erfinv(2 p - 1), with w = -ln(4 p (1 - p)): p below 1/2 loses no bits.
HWY_INLINE Vf Ndtri(Vf p) {
  const Vf one = Const(1.0f), root2 = Const(1.41421356f);
  const Vf x = hn::Sub(hn::Add(p, p), one);
  const Vf w = hn::Neg(Log(hn::Mul(hn::Mul(Const(4.0f), p), hn::Sub(one, p))));
  const Vf t = hn::Sqrt(w), scaled = hn::Mul(x, root2);
  const Vf near = hn::MulAdd(scaled, ErfinvNear(w), scaled);
  const Vf rest = hn::IfThenElse(hn::Lt(t, Const(4.0f)), ErfinvFar(t), ErfinvFarthest(t));
  const Vf sum = hn::MulAdd(rest, root2, hn::Sqrt(hn::Add(w, w)));
  const Vf far = hn::CopySign(hn::IfThenElse(hn::Eq(t, Infinity()), t, sum), x);
  return hn::IfThenElse(hn::Lt(w, Const(kErfinvSplit)), near, far);
}

// ---- inverse hyperbolic functions ----

// From here on asinh(x) and acosh(x) are ln(2 x).
constexpr float kAreaIsLogOfTwice = 1e4f;

// ln(x + sqrt(x^2 + sign)), for x >= 1.
HWY_INLINE Vf LogOfSumWithRoot(Vf x, float sign) {
  const auto huge = hn::Gt(x, Const(kAreaIsLogOfTwice));
  const Vf sum = hn::Add(x, hn::Sqrt(hn::MulAdd(x, x, Const(sign))));
  const Vf y = LogOfNormal(hn::IfThenElse(huge, x, sum), hn::IfThenElseZero(huge, Const(1.0f)));
  return hn::IfThenElse(hn::Lt(x, Infinity()), y, x);  // infinity and NaN
}

HWY_INLINE Vf Asinh(Vf x) {
  const Vf ax = hn::Abs(x), z = hn::Mul(x, x);
  const Vf p = Horner(z, -1.666665226e-01f, 7.499478757e-02f, -4.457677528e-02f, 2.995883860e-02f,
                      -2.076512203e-02f, 1.337622013e-02f, -7.103088312e-03f, 2.741434844e-03f,
                      -6.587950629e-04f, 7.261027349e-05f);  // |x| <= 1.2
  const Vf small = hn::MulAdd(hn::Mul(ax, z), p, ax);
  const Vf large = LogOfSumWithRoot(ax, 1.0f);
  return hn::CopySign(hn::IfThenElse(hn::Lt(ax, Const(1.2f)), small, large), x);
}

// With t = x - 1, which is exact below 2: acosh(x) = sqrt(2 t) (1 + t P(t)) there; NaN below 1.
HWY_INLINE Vf Acosh(Vf x) {
  const Vf t = hn::Sub(x, Const(1.0f));
  const Vf root = hn::Sqrt(hn::Add(t, t));
  const Vf p = Horner(t, -8.333330601e-02f, 1.874927804e-02f, -5.573846865e-03f, 1.870550099e-03f,
                      -6.310357130e-04f, 1.749349613e-04f, -2.671508264e-05f);  // t <= 1
  const Vf small = hn::MulAdd(hn::Mul(root, t), p, root);
  return hn::IfThenElse(hn::Lt(x, Const(2.0f)), small, LogOfSumWithRoot(x, -1.0f));
}

HWY_INLINE Vf Atanh(Vf x) {
  const Vf ax = hn::Abs(x), z = hn::Mul(x, x), one = Const(1.0f);
  const Vf p = Horner(z, 3.333333731e-01f, 1.999962181e-01f, 1.429781467e-01f, 1.092939973e-01f,
                      1.052449197e-01f, 1.695874892e-02f, 1.851413697e-01f);  // |x| <= 1/2
  const Vf small = hn::MulAdd(hn::Mul(x, z), p, x);
  const Vf log = Log(hn::Div(hn::Add(one, ax), hn::Sub(one, ax)));
  const Vf large = hn::CopySign(hn::Mul(log, Const(0.5f)), x);
  return hn::IfThenElse(hn::Lt(ax, Const(0.5f)), small, large);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
