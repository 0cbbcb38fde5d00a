// x / (1 + e^-x) for results of less than float's precision. For the target being compiled.
#if defined(TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_
#undef TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_
#else
#define TENON_KERNELS_SIMD_QUICK_SWISH_INL_H_
#endif

#include <type_traits>

#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Of n vectors, step by step: the steps of one depend on each other, and a CPU looks ahead less far
// than they take. Relative errors below 2^-12, or with kFine 2^-20 for x above -16. NaN at
// -infinity, as Swish.
template <bool kFine, size_t n>
HWY_INLINE void QuickSwish(Vf (&x)[n]) {
#if HWY_TARGET <= HWY_AVX3
#define TENON_EACH _Pragma("GCC unroll 8") for (size_t i = 0; i < n; ++i)
  Vf t[n], part[n], p[n];
  TENON_EACH t[i] = hn::Mul(x[i], Const(-1.442695041f));
  TENON_EACH part[i] = Vf{_mm512_reduce_ps(t[i].raw, _MM_FROUND_TO_NEG_INF)};  // t - floor(t)
  if constexpr (kFine) {                                                       // 2^part
    TENON_EACH p[i] = hn::MulAdd(part[i], Const(1.877576675e-03f), Const(8.989340091e-03f));
    TENON_EACH p[i] = hn::MulAdd(part[i], p[i], Const(5.582631805e-02f));
    TENON_EACH p[i] = hn::MulAdd(part[i], p[i], Const(2.401536170e-01f));
    TENON_EACH p[i] = hn::MulAdd(part[i], p[i], Const(6.931530732e-01f));
    TENON_EACH p[i] = hn::MulAdd(part[i], p[i], Const(9.999999251e-01f));
  } else {
    TENON_EACH p[i] = hn::MulAdd(part[i], Const(7.802452264e-02f), Const(2.260671554e-01f));
    TENON_EACH p[i] = hn::MulAdd(part[i], p[i], Const(6.958335405e-01f));
    TENON_EACH p[i] = hn::MulAdd(part[i], p[i], Const(9.999252186e-01f));
  }
  TENON_EACH p[i] = Vf{_mm512_scalef_ps(p[i].raw, t[i].raw)};  // times 2^floor(t)
  TENON_EACH p[i] = hn::Add(p[i], Const(1.0f));
  TENON_EACH t[i] = hn::ApproximateReciprocal(p[i]);
  if constexpr (kFine) {
    TENON_EACH p[i] = hn::NegMulAdd(p[i], t[i], Const(1.0f));
    // An infinite denominator, which gives NaN here, needs no better reciprocal than 0.
    TENON_EACH t[i] = hn::IfThenElse(hn::IsNaN(p[i]), t[i], hn::MulAdd(p[i], t[i], t[i]));
  }
  TENON_EACH x[i] = hn::Mul(x[i], t[i]);
#undef TENON_EACH
#else
  for (Vf& v : x) v = Swish(v);
#endif
}

// f(the number of rows, the first one) for groups of 4 rows and the rest, 2 and 1: as many vectors
// as QuickSwish takes at once. The number is a compile-time constant.
template <typename F>
HWY_INLINE void ForRowGroups(size_t rows, F f) {
  size_t first = 0;
  for (; first + 4 <= rows; first += 4) f(std::integral_constant<size_t, 4>(), first);
  if (rows - first >= 2) {
    f(std::integral_constant<size_t, 2>(), first);
    first += 2;
  }
  if (first < rows) f(std::integral_constant<size_t, 1>(), first);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
