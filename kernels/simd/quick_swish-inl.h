// x / (1 + e^-x) for results of less than float's precision. For the target being compiled.
#if defined(TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_
#undef TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_
#else
#define TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Relative errors below 2^-12, or with kFine 2^-20 for x above -16. NaN at -infinity, as Swish.
template <bool kFine>
HWY_INLINE Vf QuickSwish(Vf x) {
#if HWY_TARGET <= HWY_AVX3
  const Vf t = hn::Mul(x, Const(-1.442695041f));
  const Vf part{_mm512_reduce_ps(t.raw, _MM_FROUND_TO_NEG_INF)};  // t - floor(t)
  const Vf p = kFine ? Horner(part, 9.999999251e-01f, 6.931530732e-01f, 2.401536170e-01f,
                              5.582631805e-02f, 8.989340091e-03f, 1.877576675e-03f)
                     : Horner(part, 9.999252186e-01f, 6.958335405e-01f, 2.260671554e-01f,
                              7.802452264e-02f);  // 2^part
  const Vf e{_mm512_scalef_ps(p.raw, t.raw)};     // times 2^floor(t)
  const Vf denominator = hn::Add(e, Const(1.0f));
  const Vf near = hn::ApproximateReciprocal(denominator);
  if constexpr (!kFine) return hn::Mul(x, near);
  // An infinite denominator needs no better reciprocal than 0.
  const Vf error = hn::NegMulAdd(denominator, near, Const(1.0f));
  return hn::Mul(x, hn::IfThenElse(hn::IsNaN(error), near, hn::MulAdd(error, near, near)));
#else
  return Swish(x);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
