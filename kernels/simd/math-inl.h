// Elementary functions on float vectors, for the target being compiled. It has no ordinary include
// guard, because foreach_target compiles it once per instruction set.
//
// Polynomials are weighted minimax fits over the stated range; the error of each function against
// exact values is a few units in the last place (tests/unit/kernels/unary_test.cc states it).
#if defined(TENON_KERNELS_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_MATH_INL_H_
#undef TENON_KERNELS_SIMD_MATH_INL_H_
#else
#define TENON_KERNELS_SIMD_MATH_INL_H_
#endif

#include <cmath>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using Vf = hn::Vec<FloatTag>;

HWY_INLINE Vf Const(float v) { return hn::Set(FloatTag(), v); }
HWY_INLINE Vf Infinity() { return Const(std::numeric_limits<float>::infinity()); }

// c0 + x (c1 + x (c2 + ...))
HWY_INLINE Vf Horner(Vf, float c) { return Const(c); }
template <typename... Cs>
HWY_INLINE Vf Horner(Vf x, float c, Cs... cs) {
  return hn::MulAdd(x, Horner(x, cs...), Const(c));
}

// NaN if x is NaN, otherwise y.
HWY_INLINE Vf KeepNaN(Vf x, Vf y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

// x = q ln 2 + r with |r| <= ln(2) / 2, q integral. For |x| below 150.
HWY_INLINE Vf ReduceByLn2(Vf x, Vf& r) {
  const Vf q = hn::Round(hn::Mul(x, Const(1.442695041f)));
  // ln 2 in two parts; the first has 10 bits, so that its product with q is exact without FMA.
  r = hn::NegMulAdd(q, Const(0.693359375f), x);
  r = hn::NegMulAdd(q, Const(-2.12194440e-4f), r);
  return q;
}

// e^r - 1 for |r| <= ln(2) / 2.
HWY_INLINE Vf Expm1Reduced(Vf r) {
  const Vf p = Horner(r, 5.000000097e-01f, 1.666651718e-01f, 4.166620075e-02f, 8.369088881e-03f,
                      1.395082735e-03f);
  return hn::MulAdd(hn::Mul(r, r), p, r);
}

// e^r for |r| <= ln(2) / 2.
HWY_INLINE Vf ExpReduced(Vf r) { return hn::Add(Const(1.0f), Expm1Reduced(r)); }

// 2^q, q integral in [-126, 127].
template <class Vi>
HWY_INLINE Vf PowerOfTwo(Vi q) {
  return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(hn::Add(q, hn::Set(IntTag(), 127))));
}

// Like ReduceByLn2, with scale = 2^q, for |x| below 87.5. The sum with 1.5 * 2^23 leaves q as an
// integer in its low bits.
HWY_INLINE void ReduceByLn2(Vf x, Vf& r, Vf& scale) {
  const Vf magic = Const(12582912.0f);
  const Vf sum = hn::MulAdd(x, Const(1.442695041f), magic);
  const Vf q = hn::Sub(sum, magic);
  r = hn::NegMulAdd(q, Const(0.693359375f), x);
  r = hn::NegMulAdd(q, Const(-2.12194440e-4f), r);
  scale = PowerOfTwo(hn::BitCast(IntTag(), sum));
}

HWY_INLINE Vf Exp(Vf x) {
  // Beyond these bounds the result is 0 or infinity in any case.
  const Vf clamped = hn::Min(hn::Max(x, Const(-104.0f)), Const(89.0f));
  Vf r;
  const auto q = hn::ConvertTo(IntTag(), ReduceByLn2(clamped, r));
  // In two steps, so that subnormal results and values up to the largest are right.
  const auto half = hn::ShiftRight<1>(q);
  const Vf y = hn::Mul(hn::Mul(ExpReduced(r), PowerOfTwo(half)), PowerOfTwo(hn::Sub(q, half)));
  return KeepNaN(x, y);
}

// e^x for x <= 0; results below the smallest normal may become 0. NaN stays.
HWY_INLINE Vf ExpOfNegative(Vf x) {
  const Vf least = Const(-87.0f);
#if HWY_TARGET <= HWY_AVX3
  const Vf magic = Const(12582912.0f);  // as in ReduceByLn2
  const Vf q = hn::Sub(hn::MulAdd(x, Const(1.442695041f), magic), magic);
  Vf r = hn::NegMulAdd(q, Const(0.693359375f), x);
  r = hn::NegMulAdd(q, Const(-2.12194440e-4f), r);
  const Vf y{_mm512_scalef_ps(ExpReduced(r).raw, q.raw)};
#else
  Vf r, scale;
  ReduceByLn2(hn::Max(least, x), r, scale);  // x if x is NaN
  const Vf y = hn::Mul(ExpReduced(r), scale);
#endif
  return hn::IfThenZeroElse(hn::Lt(x, least), y);
}

HWY_INLINE Vf Expm1(Vf x) {
  const Vf p = Horner(x, 5.000003138e-01f, 1.666667659e-01f, 4.166146303e-02f, 8.332343856e-03f,
                      1.410225385e-03f, 2.013743370e-04f);  // |x| <= 0.7
  const Vf small = hn::MulAdd(hn::Mul(x, x), p, x);
  const Vf large = hn::Sub(Exp(x), Const(1.0f));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), Const(0.65f)), small, large);
}

// x = 2^e m with m in [sqrt(1/2), sqrt(2)), for positive, finite, normal x.
HWY_INLINE Vf MantissaNearOne(Vf x, Vf& e) {
  const IntTag di;
  const auto sqrt_half = hn::Set(di, 0x3f3504f3);
  const auto bits = hn::Sub(hn::BitCast(di, x), sqrt_half);
  e = hn::ConvertTo(FloatTag(), hn::ShiftRight<23>(bits));
  return hn::BitCast(FloatTag(), hn::Add(hn::And(bits, hn::Set(di, 0x007fffff)), sqrt_half));
}

// ln x for positive, finite, normal x.
HWY_INLINE Vf LogOfNormal(Vf x, Vf exponent_offset) {
  Vf e;
  const Vf m = MantissaNearOne(x, e);
  e = hn::Add(e, exponent_offset);
  const Vf f = hn::Sub(m, Const(1.0f));  // in [sqrt(1/2) - 1, sqrt(2) - 1]
  const Vf f2 = hn::Mul(f, f);
  const Vf p = Horner(f, 3.333331044e-01f, -2.499998663e-01f, 2.000222670e-01f, -1.666924946e-01f,
                      1.421865543e-01f, -1.238437030e-01f, 1.187301627e-01f, -1.178969557e-01f,
                      6.915146937e-02f);
  Vf y = hn::Mul(hn::Mul(f, f2), p);
  y = hn::MulAdd(e, Const(-2.12194440e-4f), y);
  y = hn::NegMulAdd(Const(0.5f), f2, y);
  return hn::MulAdd(e, Const(0.693359375f), hn::Add(f, y));
}

HWY_INLINE Vf Log(Vf x) {
  const auto subnormal = hn::Lt(x, Const(std::numeric_limits<float>::min()));
  const Vf scaled = hn::IfThenElse(subnormal, hn::Mul(x, Const(8388608.0f)), x);
  Vf y = LogOfNormal(scaled, hn::IfThenElseZero(subnormal, Const(-23.0f)));
  y = hn::IfThenElse(hn::Lt(x, Infinity()), y, x);  // infinity and NaN
  y = hn::IfThenElse(hn::Eq(x, Const(0.0f)), hn::Neg(Infinity()), y);
  return hn::IfThenElse(hn::Lt(x, Const(0.0f)), Const(std::numeric_limits<float>::quiet_NaN()), y);
}

// With u = 1 + x rounded: ln(1 + x) = ln u + (x - (u - 1)) / u to first order.
HWY_INLINE Vf Log1p(Vf x) {
  const Vf one = Const(1.0f);
  const Vf u = hn::Add(x, one);
  const Vf correction = hn::Div(hn::Sub(x, hn::Sub(u, one)), u);
  const Vf log = Log(u);
  // At u = 0 and u = infinity the correction is NaN.
  const Vf y = hn::IfThenElse(hn::Eq(correction, correction), hn::Add(log, correction), log);
  return hn::CopySign(y, x);  // -0
}

// ln(1 + x) for 0 <= x <= 1.
HWY_INLINE Vf Log1pUpToOne(Vf x) {
  const Vf one = Const(1.0f);
  const Vf u = hn::Add(x, one);
  const Vf correction = hn::Div(hn::Sub(x, hn::Sub(u, one)), u);
  return hn::Add(LogOfNormal(u, hn::Zero(FloatTag())), correction);
}

HWY_INLINE Vf Sigmoid(Vf x) {
  // 1 / (1 + e^-x), or e^x / (1 + e^x) if x < 0: small values keep their relative accuracy.
  const Vf e = ExpOfNegative(hn::Neg(hn::Abs(x)));
  const Vf numerator = hn::IfThenElse(hn::Lt(x, Const(0.0f)), e, Const(1.0f));
  return hn::Div(numerator, hn::Add(Const(1.0f), e));
}

// x / (1 + e^-x). Below -87 it is -0, and NaN at -infinity.
HWY_INLINE Vf Swish(Vf x) {
#if HWY_TARGET <= HWY_AVX3
  const Vf clamped = hn::Min(hn::Max(x, Const(-87.0f)), Const(87.0f));
  const Vf q{
      _mm512_roundscale_ps(hn::Mul(clamped, Const(-1.442695041f)).raw, _MM_FROUND_TO_NEAREST_INT)};
  Vf r = hn::NegMulSub(q, Const(0.693359375f), clamped);
  r = hn::NegMulAdd(q, Const(-2.12194440e-4f), r);
  const Vf denominator =
      hn::Add(Vf{_mm512_scalef_ps(ExpReduced(r).raw, q.raw)}, Const(1.0f));  // 1 + 2^q e^r
  // Of 14 bits; a division takes as long as ten other instructions.
  const Vf near = hn::ApproximateReciprocal(denominator);
  const Vf reciprocal = hn::MulAdd(hn::NegMulAdd(denominator, near, Const(1.0f)), near, near);
  return hn::Mul(x, hn::IfThenZeroElse(hn::Lt(x, Const(-87.0f)), reciprocal));
#else
  Vf r, scale;
  ReduceByLn2(hn::Min(hn::Max(hn::Neg(x), Const(-87.0f)), Const(87.0f)), r, scale);
  const Vf denominator =
      hn::MulAdd(scale, Expm1Reduced(r), hn::Add(scale, Const(1.0f)));  // 1 + 2^q e^r
  return hn::IfThenElse(hn::Lt(x, Const(-87.0f)), hn::Mul(x, hn::Zero(FloatTag())),
                        hn::Div(x, denominator));
#endif
}

// Without fused multiply-adds an angle could not be reduced exactly, with them up to here.
constexpr float kMostAngle = 32768.0f;

// x = q pi / 2 + r with |r| <= pi / 4, for |x| <= kMostAngle; pi / 2 in three parts.
HWY_INLINE Vf ReduceByHalfPi(Vf x, Vf& r) {
  const Vf q = hn::Round(hn::Mul(x, Const(0.636619772f)));
  r = hn::NegMulAdd(q, Const(1.5707964f), x);
  r = hn::NegMulAdd(q, Const(-4.371139e-08f), r);
  r = hn::NegMulAdd(q, Const(-1.7151245e-15f), r);
  return q;
}

template <class Vi>
HWY_INLINE auto IsOdd(Vi quadrant) {
  const auto one = hn::Set(IntTag(), 1);
  return hn::RebindMask(FloatTag(), hn::Eq(hn::And(quadrant, one), one));
}

template <bool cosine>
struct SineOrCosine {
  static float Number(float x) { return cosine ? std::cos(x) : std::sin(x); }
  static HWY_INLINE Vf Reduced(Vf x) {
    const IntTag di;
    Vf r;
    auto quadrant = hn::ConvertTo(di, ReduceByHalfPi(x, r));
    const Vf z = hn::Mul(r, r);
    const Vf s = Horner(z, -1.666665457e-01f, 8.332158406e-03f, -1.951495709e-04f);
    const Vf c = Horner(z, 4.166664681e-02f, -1.388736448e-03f, 2.443809033e-05f);
    Vf sine = hn::MulAdd(hn::Mul(r, z), s, r);
    if constexpr (!cosine) sine = hn::IfThenElse(hn::Eq(x, hn::Zero(FloatTag())), x, sine);  // -0
    const Vf cosine_of_r = hn::MulAdd(hn::Mul(z, z), c, hn::NegMulAdd(Const(0.5f), z, Const(1.0f)));
    // In every second quadrant it is the other function, and in two of four its negative.
    if constexpr (cosine) quadrant = hn::Add(quadrant, hn::Set(di, 1));
    const Vf magnitude = hn::IfThenElse(IsOdd(quadrant), cosine_of_r, sine);
    const auto sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2)));
    return hn::Xor(magnitude, hn::BitCast(FloatTag(), sign));
  }
};

struct Tangent {
  static float Number(float x) { return std::tan(x); }
  static HWY_INLINE Vf Reduced(Vf x) {
    Vf r;
    const auto quadrant = hn::ConvertTo(IntTag(), ReduceByHalfPi(x, r));
    const Vf z = hn::Mul(r, r);
    const Vf p = Horner(z, 3.333334923e-01f, 1.333267391e-01f, 5.405917391e-02f, 2.128455788e-02f,
                        1.083228178e-02f, 9.156913438e-05f, 4.376206547e-03f);
    const Vf tangent = hn::MulAdd(hn::Mul(r, z), p, r);
    const Vf y = hn::IfThenElse(IsOdd(quadrant), hn::Div(Const(-1.0f), tangent), tangent);
    return hn::IfThenElse(hn::Eq(x, hn::Zero(FloatTag())), x, y);  // -0
  }
};

// Function::Reduced up to kMostAngle, Function::Number of each lane beyond it.
template <class Function>
HWY_INLINE Vf OfAngle(Vf x) {
  const FloatTag d;
#if HWY_TARGET <= HWY_AVX2
  const auto small = hn::Le(hn::Abs(x), Const(kMostAngle));
  const Vf y = Function::Reduced(x);
  if (HWY_LIKELY(hn::AllTrue(d, small))) return y;
#endif
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = Function::Number(lanes[i]);
#if HWY_TARGET <= HWY_AVX2
  // A number's result does not depend on its neighbors.
  return hn::IfThenElse(small, y, hn::Load(d, lanes));
#else
  return hn::Load(d, lanes);
#endif
}
HWY_INLINE Vf Sin(Vf x) { return OfAngle<SineOrCosine<false>>(x); }
HWY_INLINE Vf Cos(Vf x) { return OfAngle<SineOrCosine<true>>(x); }
HWY_INLINE Vf Tan(Vf x) { return OfAngle<Tangent>(x); }

// e^x / 2 for 0 <= x, infinity where the half is; NaN gives an arbitrary value.
HWY_INLINE Vf HalfOfExp(Vf x) {
  Vf r;
  const auto q = hn::ConvertTo(IntTag(), ReduceByLn2(hn::Min(x, Const(90.0f)), r));
  const auto half = hn::ShiftRight<1>(q);
  const auto rest = hn::Sub(hn::Sub(q, half), hn::Set(IntTag(), 1));
  return hn::Mul(hn::Mul(ExpReduced(r), PowerOfTwo(half)), PowerOfTwo(rest));
}

HWY_INLINE Vf Sinh(Vf x) {
  const Vf ax = hn::Abs(x), z = hn::Mul(x, x);
  const Vf p = Horner(z, 1.666666716e-01f, 8.333310485e-03f, 1.984289556e-04f,
                      2.782213187e-06f);  // |x| <= 1
  const Vf small = hn::MulAdd(hn::Mul(x, z), p, x);
  const Vf h = HalfOfExp(ax);
  const Vf large = hn::CopySign(hn::Sub(h, hn::Div(Const(0.25f), h)), x);
  return KeepNaN(x, hn::IfThenElse(hn::Lt(ax, Const(1.0f)), small, large));
}

HWY_INLINE Vf Cosh(Vf x) {
  const Vf h = HalfOfExp(hn::Abs(x));
  return KeepNaN(x, hn::Add(h, hn::Div(Const(0.25f), h)));
}

// -m / (m + 2) with m = e^(-2 |x|) - 1 = 2^q (e^r - 1) + (2^q - 1), which keeps its relative
// accuracy at small x, where q is 0.
HWY_INLINE Vf Tanh(Vf x) {
  const Vf one = Const(1.0f);
  Vf r, scale;
  ReduceByLn2(hn::Max(hn::Mul(hn::Abs(x), Const(-2.0f)), Const(-40.0f)), r, scale);
  const Vf m = hn::MulAdd(scale, Expm1Reduced(r), hn::Sub(scale, one));
  const Vf y = hn::Div(m, hn::Add(m, Const(2.0f)));
  return KeepNaN(x, hn::CopySign(y, x));
}

// erf(x) for |x| <= 0.85. The leading 1 is added last, for accuracy.
HWY_INLINE Vf ErfOfSmall(Vf x) {
  const Vf p = Horner(hn::Mul(x, x), 1.28379167e-01f, -3.761263703e-01f, 1.128374962e-01f,
                      -2.686262668e-02f, 5.209681904e-03f, -8.248975346e-04f, 8.857760216e-05f);
  return hn::MulAdd(x, p, x);
}

// x * x - square, exactly, where square is x * x rounded.
HWY_INLINE Vf SquareRounding(Vf x, Vf square) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MulSub(x, x, square);
#else  // without fused multiply-add: the square of 12 bits is exact
  const IntTag di;
  const Vf high =
      hn::BitCast(FloatTag(), hn::And(hn::BitCast(di, x), hn::Set(di, ~int32_t{0xfff})));
  const Vf low = hn::Sub(x, high);
  return hn::MulAdd(hn::Add(x, high), low, hn::Sub(hn::Mul(high, high), square));
#endif
}

// erfc(x) e^(x^2) for x >= 0.78, as t P(t) with t = 1 / (1 + x / 2).
HWY_INLINE Vf ScaledErfc(Vf x) {
  const Vf t = hn::Div(Const(1.0f), hn::MulAdd(x, Const(0.5f), Const(1.0f)));
  const Vf p = Horner(t, 2.821064072e-01f, 2.818628009e-01f, 2.485647426e-01f, 1.710735826e-01f,
                      8.234233706e-02f, 4.839056523e-02f, -1.971353851e-01f, 8.317393244e-02f);
  return hn::Mul(t, p);
}

// erfc(ax) for ax >= 0.78.
HWY_INLINE Vf ErfcOfLarge(Vf ax) {
  const Vf x = hn::Min(ax, Const(10.4f));  // erfc is 0 in float from 10.1 on
  const Vf square = hn::Mul(x, x);
  const Vf rounding = SquareRounding(x, square);
  const Vf e = Exp(hn::Neg(square));
  return hn::Mul(hn::NegMulAdd(e, rounding, e), ScaledErfc(x));
}

// erf(ax) for ax >= 0.78. It is 1 in float from 3.9 on, and the square's rounding does not reach
// it.
HWY_INLINE Vf ErfOfLarge(Vf ax) {
  const Vf x = hn::Min(ax, Const(4.0f));
  Vf r, scale;
  ReduceByLn2(hn::Neg(hn::Mul(x, x)), r, scale);
  const Vf e = hn::Mul(ExpReduced(r), scale);
  return hn::NegMulAdd(e, ScaledErfc(x), Const(1.0f));
}

constexpr float kErfSplit = 0.8f;

HWY_INLINE Vf Erf(Vf x) {
  const Vf ax = hn::Abs(x);
  const Vf large = hn::CopySign(ErfOfLarge(ax), x);
  return KeepNaN(x, hn::IfThenElse(hn::Lt(ax, Const(kErfSplit)), ErfOfSmall(x), large));
}

HWY_INLINE Vf Erfc(Vf x) {
  const Vf ax = hn::Abs(x);
  const Vf small = hn::Sub(Const(1.0f), ErfOfSmall(x));
  const Vf tail = ErfcOfLarge(ax);
  const Vf large = hn::IfThenElse(hn::Lt(x, Const(0.0f)), hn::Sub(Const(2.0f), tail), tail);
  return KeepNaN(x, hn::IfThenElse(hn::Lt(ax, Const(kErfSplit)), small, large));
}

// x Phi(x) = x / 2 + x h with h = erf(x / sqrt(2)) / 2 as u P(u^2) / Q(u^2), which is 1/2 at the
// end of the fit's range. The error is a part of x, not of the result, as with 1 + erf: far below 0
// the result is -0 (minus infinity gives NaN).
HWY_INLINE Vf GeluExact(Vf x) {
  constexpr float kEnd = 5.550788f;
  const Vf half = Const(0.5f);
  const Vf u = hn::Min(hn::Max(x, Const(-kEnd)), Const(kEnd));
  const Vf t = hn::Mul(u, u);
  const Vf p = Horner(t, 3.989422729e-01f, 3.369267543e-02f, 4.664193904e-03f, 1.667253581e-04f,
                      6.294146739e-06f, 2.260509135e-08f);
  const Vf q = Horner(t, 1.0f, 2.511213782e-01f, 2.854574632e-02f, 1.872903568e-03f,
                      7.274093909e-05f, 1.188972425e-06f);
  const Vf h = hn::Min(hn::Max(hn::Div(hn::Mul(u, p), q), Const(-0.5f)), half);
  return hn::MulAdd(x, h, hn::Mul(x, half));
}

// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
HWY_INLINE Vf Softplus(Vf x) {
  const Vf e = ExpOfNegative(hn::Neg(hn::Abs(x)));
  const Vf positive = hn::IfThenZeroElse(hn::Lt(x, Const(0.0f)), x);
  return hn::Add(positive, Log1pUpToOne(e));
}

// x tanh(softplus(x)) = x n / (n + 2) with n = e^x (e^x + 2)
HWY_INLINE Vf Mish(Vf x) {
  const Vf e = Exp(hn::IfThenElse(hn::Gt(x, Const(20.0f)), Const(20.0f), x));
  const Vf n = hn::Mul(e, hn::Add(e, Const(2.0f)));
  const Vf y = hn::Mul(x, hn::Div(n, hn::Add(n, Const(2.0f))));
  return hn::IfThenElse(hn::Gt(x, Const(20.0f)), x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
