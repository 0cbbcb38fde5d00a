// The loops behind FindFftLines, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fft/fft_lines_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/fft/fft_lines.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// A complex number of each lane's line.
struct Complexes {
  Vf re, im;
};

HWY_INLINE Complexes Load(const float* from) {
  const FloatTag d;
  return {hn::Load(d, from), hn::Load(d, from + hn::Lanes(d))};
}
HWY_INLINE void Store(const Complexes& v, float* to) {
  const FloatTag d;
  hn::Store(v.re, d, to);
  hn::Store(v.im, d, to + hn::Lanes(d));
}
HWY_INLINE Complexes Add(const Complexes& a, const Complexes& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE Complexes Sub(const Complexes& a, const Complexes& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
HWY_INLINE Complexes Scale(const Complexes& a, Vf by) {
  return {hn::Mul(a.re, by), hn::Mul(a.im, by)};
}
// a + b * scale
HWY_INLINE Complexes AddScaled(const Complexes& a, const Complexes& b, Vf scale) {
  return {hn::MulAdd(b.re, scale, a.re), hn::MulAdd(b.im, scale, a.im)};
}
HWY_INLINE Complexes TimesI(const Complexes& a) { return {hn::Neg(a.im), a.re}; }
// a times the number at w.
HWY_INLINE Complexes Times(const Complexes& a, const float* w) {
  const FloatTag d;
  const Vf re = hn::Set(d, w[0]), im = hn::Set(d, w[1]);
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)), hn::MulAdd(a.im, re, hn::Mul(a.re, im))};
}

// The transforms of a few points, in place.
HWY_INLINE void Transform2(Complexes* a) {
  const Complexes difference = Sub(a[0], a[1]);
  a[0] = Add(a[0], a[1]);
  a[1] = difference;
}
HWY_INLINE void Transform3(Complexes* a) {
  const FloatTag d;
  const Complexes sum = Add(a[1], a[2]);
  const Complexes turned = TimesI(Scale(Sub(a[1], a[2]), hn::Set(d, -0.86602540378443865f)));
  const Complexes middle = AddScaled(a[0], sum, hn::Set(d, -0.5f));
  a[0] = Add(a[0], sum);
  a[1] = Add(middle, turned);
  a[2] = Sub(middle, turned);
}
HWY_INLINE void Transform4(Complexes* a) {
  const Complexes even = Add(a[0], a[2]), odd = Add(a[1], a[3]);
  const Complexes difference = Sub(a[0], a[2]), turned = TimesI(Sub(a[1], a[3]));
  a[0] = Add(even, odd);
  a[1] = Sub(difference, turned);
  a[2] = Sub(even, odd);
  a[3] = Add(difference, turned);
}
HWY_INLINE void Transform5(Complexes* a) {
  const FloatTag d;
  const Vf c1 = hn::Set(d, 0.30901699437494742f), c2 = hn::Set(d, -0.80901699437494742f);
  const Vf s1 = hn::Set(d, -0.95105651629515357f), s2 = hn::Set(d, -0.58778525229247313f);
  const Complexes sum1 = Add(a[1], a[4]), sum2 = Add(a[2], a[3]);
  const Complexes difference1 = Sub(a[1], a[4]), difference2 = Sub(a[2], a[3]);
  const Complexes middle1 = AddScaled(AddScaled(a[0], sum1, c1), sum2, c2);
  const Complexes middle2 = AddScaled(AddScaled(a[0], sum1, c2), sum2, c1);
  const Complexes turned1 = TimesI(AddScaled(Scale(difference1, s1), difference2, s2));
  const Complexes turned2 = TimesI(AddScaled(Scale(difference1, s2), difference2, hn::Neg(s1)));
  a[0] = Add(a[0], Add(sum1, sum2));
  a[1] = Add(middle1, turned1);
  a[2] = Add(middle2, turned2);
  a[3] = Sub(middle2, turned2);
  a[4] = Sub(middle1, turned1);
}

template <size_t kRadix>
HWY_INLINE void TransformFew(Complexes* a) {
  if constexpr (kRadix == 2) Transform2(a);
  if constexpr (kRadix == 3) Transform3(a);
  if constexpr (kRadix == 4) Transform4(a);
  if constexpr (kRadix == 5) Transform5(a);
}

// The butterflies that share the twiddle factors at w. Null: all factors are 1, and numbers that
// are not finite must not meet a product with 0.
template <size_t kRadix>
HWY_INLINE void RunButterflies(const FftTables::Stage& stage, const float* w, const float* from,
                               float* to) {
  const size_t size = 2 * hn::Lanes(FloatTag());  // of a number of all lines
  const size_t stride = stage.stride * size;
  for (size_t q = 0; q < stride; q += size) {
    Complexes a[kRadix];
    for (size_t j = 0; j < kRadix; ++j) a[j] = Load(from + q + j * stage.span * stride);
    TransformFew<kRadix>(a);
    Store(a[0], to + q);
    for (size_t j = 1; j < kRadix; ++j) {
      Store(w == nullptr ? a[j] : Times(a[j], w + 2 * (j - 1)), to + q + j * stride);
    }
  }
}

template <size_t kRadix>
void RunStage(const FftTables::Stage& stage, const float* x, float* y) {
  const size_t stride = stage.stride * 2 * hn::Lanes(FloatTag());
  RunButterflies<kRadix>(stage, nullptr, x, y);
  for (size_t p = 1; p < stage.span; ++p) {
    RunButterflies<kRadix>(stage, stage.twiddles.data() + 2 * (kRadix - 1) * p, x + p * stride,
                           y + p * kRadix * stride);
  }
}

// By the definition, for odd radices.
void RunOddStage(const FftTables::Stage& stage, const float* x, float* y) {
  const size_t size = 2 * hn::Lanes(FloatTag()), radix = stage.radix;
  const size_t stride = stage.stride, step = stage.span * stride * size;
  const float* w = stage.twiddles.data();
  for (size_t p = 0; p < stage.span; ++p, w += 2 * (radix - 1)) {
    for (size_t q = 0; q < stride; ++q) {
      const float* from = x + (p * stride + q) * size;
      float* to = y + (p * radix * stride + q) * size;
      for (size_t k = 0; k < radix; ++k) {
        Complexes sum = Load(from);
        for (size_t j = 1; j < radix; ++j) {
          sum = Add(sum, Times(Load(from + j * step), stage.roots.data() + 2 * (j * k % radix)));
        }
        Store(k == 0 || p == 0 ? sum : Times(sum, w + 2 * (k - 1)), to + k * stride * size);
      }
    }
  }
}

float* TransformLines(const FftTables& tables, float* x, float* y) {
  for (const FftTables::Stage& stage : tables.stages) {
    switch (stage.radix) {
      case 2:
        RunStage<2>(stage, x, y);
        break;
      case 3:
        RunStage<3>(stage, x, y);
        break;
      case 4:
        RunStage<4>(stage, x, y);
        break;
      case 5:
        RunStage<5>(stage, x, y);
        break;
      default:
        RunOddStage(stage, x, y);
    }
    float* const result = y;
    y = x;
    x = result;
  }
  return x;
}

// With E and O the spectra of the even and the odd elements, z's is E + i O.
void SplitReal(const FftTables& tables, const float* z, float* spectrum) {
  const FloatTag d;
  const size_t size = 2 * hn::Lanes(d), n = tables.points;
  const Vf half = hn::Set(d, 0.5f);
  for (size_t k = 0; k <= n; ++k) {
    const Complexes a = Load(z + k % n * size), b = Load(z + (n - k) % n * size);
    const Complexes even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
    const Complexes i_odd = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
    const Complexes odd = {i_odd.im, hn::Neg(i_odd.re)};
    Store(Scale(Add(even, Times(odd, tables.half_turns.data() + 2 * k)), half),
          spectrum + k * size);
  }
}

void JoinReal(const FftTables& tables, const float* spectrum, float* z) {
  const FloatTag d;
  const size_t size = 2 * hn::Lanes(d), n = tables.points;
  for (size_t k = 0; k < n; ++k) {
    Complexes a = Load(spectrum + k * size), b = Load(spectrum + (n - k) * size);
    // The spectrum of a real signal is real at both ends; what else is there does not count.
    if (k == 0) a.im = b.im = hn::Zero(d);
    const Complexes even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
    const Complexes odd = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
    const float* turn = tables.half_turns.data() + 2 * k;
    const float back[2] = {turn[0], -turn[1]};
    const Complexes sum = Add(even, TimesI(Times(odd, back)));
    Store({sum.im, sum.re}, z + k * size);
  }
}

FftLines FftLinesHere() { return {hn::Lanes(FloatTag()), &TransformLines, &SplitReal, &JoinReal}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(FftLinesHere);

FftLines FindFftLines() { return HWY_DYNAMIC_DISPATCH(FftLinesHere)(); }

}  // namespace tenon
#endif
