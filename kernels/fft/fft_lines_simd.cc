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

template <typename T>
using Tag = hn::ScalableTag<T>;

// A complex number of each lane's line.
template <typename T>
struct Complexes {
  hn::Vec<Tag<T>> re, im;
};

template <typename T>
HWY_INLINE Complexes<T> Load(const T* from) {
  const Tag<T> d;
  return {hn::Load(d, from), hn::Load(d, from + hn::Lanes(d))};
}
template <typename T>
HWY_INLINE void Store(const Complexes<T>& v, T* to) {
  const Tag<T> d;
  hn::Store(v.re, d, to);
  hn::Store(v.im, d, to + hn::Lanes(d));
}
template <typename T>
HWY_INLINE Complexes<T> Add(const Complexes<T>& a, const Complexes<T>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <typename T>
HWY_INLINE Complexes<T> Sub(const Complexes<T>& a, const Complexes<T>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <typename T>
HWY_INLINE Complexes<T> Scale(const Complexes<T>& a, hn::Vec<Tag<T>> by) {
  return {hn::Mul(a.re, by), hn::Mul(a.im, by)};
}
// a + b * scale
template <typename T>
HWY_INLINE Complexes<T> AddScaled(const Complexes<T>& a, const Complexes<T>& b,
                                  hn::Vec<Tag<T>> scale) {
  return {hn::MulAdd(b.re, scale, a.re), hn::MulAdd(b.im, scale, a.im)};
}
template <typename T>
HWY_INLINE Complexes<T> TimesI(const Complexes<T>& a) {
  return {hn::Neg(a.im), a.re};
}
template <typename T>
HWY_INLINE Complexes<T> Times(const Complexes<T>& a, const Complexes<T>& b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}
// a times the number at w.
template <typename T>
HWY_INLINE Complexes<T> Times(const Complexes<T>& a, const T* w) {
  const Tag<T> d;
  return Times(a, Complexes<T>{hn::Set(d, w[0]), hn::Set(d, w[1])});
}

// The transforms of a few points, in place.
template <typename T>
HWY_INLINE void Transform2(Complexes<T>* a) {
  const Complexes<T> difference = Sub(a[0], a[1]);
  a[0] = Add(a[0], a[1]);
  a[1] = difference;
}
template <typename T>
HWY_INLINE void Transform3(Complexes<T>* a) {
  const Tag<T> d;
  const Complexes<T> sum = Add(a[1], a[2]);
  const Complexes<T> turned = TimesI(Scale(Sub(a[1], a[2]), hn::Set(d, T(-0.86602540378443865))));
  const Complexes<T> middle = AddScaled(a[0], sum, hn::Set(d, T(-0.5)));
  a[0] = Add(a[0], sum);
  a[1] = Add(middle, turned);
  a[2] = Sub(middle, turned);
}
template <typename T>
HWY_INLINE void Transform4(Complexes<T>* a) {
  const Complexes<T> even = Add(a[0], a[2]), odd = Add(a[1], a[3]);
  const Complexes<T> difference = Sub(a[0], a[2]), turned = TimesI(Sub(a[1], a[3]));
  a[0] = Add(even, odd);
  a[1] = Sub(difference, turned);
  a[2] = Sub(even, odd);
  a[3] = Add(difference, turned);
}
template <typename T>
HWY_INLINE void Transform5(Complexes<T>* a) {
  const Tag<T> d;
  const hn::Vec<Tag<T>> c1 = hn::Set(d, T(0.30901699437494742)),
                        c2 = hn::Set(d, T(-0.80901699437494742));
  const hn::Vec<Tag<T>> s1 = hn::Set(d, T(-0.95105651629515357)),
                        s2 = hn::Set(d, T(-0.58778525229247313));
  const Complexes<T> sum1 = Add(a[1], a[4]), sum2 = Add(a[2], a[3]);
  const Complexes<T> difference1 = Sub(a[1], a[4]), difference2 = Sub(a[2], a[3]);
  const Complexes<T> middle1 = AddScaled(AddScaled(a[0], sum1, c1), sum2, c2);
  const Complexes<T> middle2 = AddScaled(AddScaled(a[0], sum1, c2), sum2, c1);
  const Complexes<T> turned1 = TimesI(AddScaled(Scale(difference1, s1), difference2, s2));
  const Complexes<T> turned2 = TimesI(AddScaled(Scale(difference1, s2), difference2, hn::Neg(s1)));
  a[0] = Add(a[0], Add(sum1, sum2));
  a[1] = Add(middle1, turned1);
  a[2] = Add(middle2, turned2);
  a[3] = Sub(middle2, turned2);
  a[4] = Sub(middle1, turned1);
}

template <size_t kRadix, typename T>
HWY_INLINE void TransformFew(Complexes<T>* a) {
  if constexpr (kRadix == 2) Transform2(a);
  if constexpr (kRadix == 3) Transform3(a);
  if constexpr (kRadix == 4) Transform4(a);
  if constexpr (kRadix == 5) Transform5(a);
}

// The butterflies that share the twiddle factors at w. Null: all factors are 1, and numbers that
// are not finite must not meet a product with 0.
template <size_t kRadix, typename T>
HWY_INLINE void RunButterflies(const typename FftTables<T>::Stage& stage, const T* w, const T* from,
                               T* to) {
  const size_t size = 2 * hn::Lanes(Tag<T>());  // of a number of all lines
  const size_t stride = stage.stride * size;
  for (size_t q = 0; q < stride; q += size) {
    Complexes<T> a[kRadix];
    for (size_t j = 0; j < kRadix; ++j) a[j] = Load(from + q + j * stage.span * stride);
    TransformFew<kRadix>(a);
    Store(a[0], to + q);
    for (size_t j = 1; j < kRadix; ++j) {
      Store(w == nullptr ? a[j] : Times(a[j], w + 2 * (j - 1)), to + q + j * stride);
    }
  }
}

template <size_t kRadix, typename T>
void RunStage(const typename FftTables<T>::Stage& stage, const T* x, T* y) {
  const size_t stride = stage.stride * 2 * hn::Lanes(Tag<T>());
  RunButterflies<kRadix, T>(stage, nullptr, x, y);
  for (size_t p = 1; p < stage.span; ++p) {
    RunButterflies<kRadix>(stage, stage.twiddles.data() + 2 * (kRadix - 1) * p, x + p * stride,
                           y + p * kRadix * stride);
  }
}

// By the definition, for odd radices.
template <typename T>
void RunOddStage(const typename FftTables<T>::Stage& stage, const T* x, T* y) {
  const size_t size = 2 * hn::Lanes(Tag<T>()), radix = stage.radix;
  const size_t stride = stage.stride, step = stage.span * stride * size;
  const T* w = stage.twiddles.data();
  for (size_t p = 0; p < stage.span; ++p, w += 2 * (radix - 1)) {
    for (size_t q = 0; q < stride; ++q) {
      const T* from = x + (p * stride + q) * size;
      T* to = y + (p * radix * stride + q) * size;
      for (size_t k = 0; k < radix; ++k) {
        Complexes<T> sum = Load(from);
        for (size_t j = 1; j < radix; ++j) {
          sum = Add(sum, Times(Load(from + j * step), stage.roots.data() + 2 * (j * k % radix)));
        }
        Store(k == 0 || p == 0 ? sum : Times(sum, w + 2 * (k - 1)), to + k * stride * size);
      }
    }
  }
}

template <typename T>
T* TransformLines(const FftTables<T>& tables, T* x, T* y) {
  for (const typename FftTables<T>::Stage& stage : tables.stages) {
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
    T* const result = y;
    y = x;
    x = result;
  }
  return x;
}

// With E and O the spectra of the even and the odd elements, z's is E + i O.
template <typename T>
void SplitReal(const FftTables<T>& tables, const T* z, T* spectrum) {
  const Tag<T> d;
  const size_t size = 2 * hn::Lanes(d), n = tables.points;
  const hn::Vec<Tag<T>> half = hn::Set(d, T(0.5));
  for (size_t k = 0; k <= n; ++k) {
    const Complexes<T> a = Load(z + k % n * size), b = Load(z + (n - k) % n * size);
    const Complexes<T> even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
    const Complexes<T> i_odd = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
    const Complexes<T> odd = {i_odd.im, hn::Neg(i_odd.re)};
    Store(Scale(Add(even, Times(odd, tables.half_turns.data() + 2 * k)), half),
          spectrum + k * size);
  }
}

template <typename T>
void JoinReal(const FftTables<T>& tables, const T* spectrum, T* z) {
  const Tag<T> d;
  const size_t size = 2 * hn::Lanes(d), n = tables.points;
  for (size_t k = 0; k < n; ++k) {
    Complexes<T> a = Load(spectrum + k * size), b = Load(spectrum + (n - k) * size);
    // The spectrum of a real signal is real at both ends; what else is there does not count.
    if (k == 0) a.im = b.im = hn::Zero(d);
    const Complexes<T> even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
    const Complexes<T> odd = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
    const T* turn = tables.half_turns.data() + 2 * k;
    const T back[2] = {turn[0], -turn[1]};
    const Complexes<T> sum = Add(even, TimesI(Times(odd, back)));
    Store({sum.im, sum.re}, z + k * size);
  }
}

template <typename T>
HWY_INLINE Complexes<T> LoadPairs(const T* from) {
  Complexes<T> v;
  hn::LoadInterleaved2(Tag<T>(), from, v.re, v.im);
  return v;
}

// Number k of the results from a, the operand's number k, and b, its number n - k.
template <typename T>
HWY_INLINE Complexes<T> SplitNumber(const Complexes<T>& a, const Complexes<T>& b,
                                    const Complexes<T>& turn) {
  const Complexes<T> even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
  const Complexes<T> odd = {hn::Add(a.im, b.im), hn::Sub(b.re, a.re)};
  return Scale(Add(even, Times(odd, turn)), hn::Set(Tag<T>(), T(0.5)));
}
template <typename T>
HWY_INLINE Complexes<T> JoinNumber(const Complexes<T>& a, const Complexes<T>& b,
                                   const Complexes<T>& turn) {
  const Complexes<T> even = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
  const Complexes<T> odd = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
  const Complexes<T> back = {turn.re, hn::Neg(turn.im)};
  return Scale(Add(even, TimesI(Times(odd, back))), hn::Set(Tag<T>(), T(0.5)));
}

template <typename T,
          Complexes<T> (*number)(const Complexes<T>&, const Complexes<T>&, const Complexes<T>&)>
size_t CombineLine(const T* half_turns, size_t n, size_t begin, size_t end, const T* from, T* to) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t k = begin;
  for (; k + lanes <= end; k += lanes) {
    const Complexes<T> a = LoadPairs(from + 2 * k);
    Complexes<T> b = LoadPairs(from + 2 * (n - k - lanes + 1));
    b = {hn::Reverse(d, b.re), hn::Reverse(d, b.im)};
    const Complexes<T> c = number(a, b, LoadPairs(half_turns + 2 * k));
    hn::StoreInterleaved2(c.re, c.im, d, to + 2 * k);
  }
  return k;
}

// Pairs of factors; see FftLines.
template <typename T>
void Multiply(const T* factors, size_t n, bool swap, T* x) {
  const size_t size = 2 * hn::Lanes(Tag<T>());
  for (size_t k = 0; k < n; ++k) {
    const Complexes<T> product = Times(Load(x + k * size), factors + 2 * k);
    Store(swap ? Complexes<T>{product.im, product.re} : product, x + k * size);
  }
}

template <typename T>
size_t MultiplyLine(const T* factors, size_t n, bool swap, const T* from, T* to) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    const Complexes<T> product = Times(LoadPairs(from + 2 * k), LoadPairs(factors + 2 * k));
    hn::StoreInterleaved2(swap ? product.im : product.re, swap ? product.re : product.im, d,
                          to + 2 * k);
  }
  return k;
}

template <typename T>
void Twist(const T* factors, size_t n, T* x) {
  const Tag<T> d;
  const size_t end = 2 * hn::Lanes(d) * n;
  for (size_t k = 0; k < end; k += 2 * hn::Lanes(d)) {
    const Complexes<T> a = Load(x + k), factor = Load(factors + k), product = Times(a, factor);
    const auto one = hn::Eq(factor.im, hn::Zero(d));
    Store({hn::IfThenElse(one, a.re, product.re), hn::IfThenElse(one, a.im, product.im)}, x + k);
  }
}

// Square blocks of 16 bytes a side are transposed in registers, those of a cache line of each
// line one after the other.
template <typename T>
inline constexpr size_t kBlock = 16 / sizeof(T);
template <typename T>
inline constexpr size_t kLineBlock = 64 / sizeof(T);
template <typename T>
using BlockTag = hn::FixedTag<T, kBlock<T>>;

template <class V>
HWY_INLINE void Transpose(hn::FixedTag<float, 4> d, V* v) {
  const V a = hn::InterleaveLower(d, v[0], v[2]), b = hn::InterleaveLower(d, v[1], v[3]);
  const V e = hn::InterleaveUpper(d, v[0], v[2]), f = hn::InterleaveUpper(d, v[1], v[3]);
  v[0] = hn::InterleaveLower(d, a, b);
  v[1] = hn::InterleaveUpper(d, a, b);
  v[2] = hn::InterleaveLower(d, e, f);
  v[3] = hn::InterleaveUpper(d, e, f);
}
template <class V>
HWY_INLINE void Transpose(hn::FixedTag<double, 2> d, V* v) {
  const V lower = hn::InterleaveLower(d, v[0], v[1]);
  v[1] = hn::InterleaveUpper(d, v[0], v[1]);
  v[0] = lower;
}

template <typename T>
void LoadLines(const T* const* lines, size_t n, size_t flip, T* x) {
  constexpr size_t kSide = kBlock<T>, kStep = kLineBlock<T>;
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(Tag<T>()), whole = n / kSide * kSide;
  for (size_t begin = 0; begin < whole; begin += kStep) {
    const size_t end = HWY_MIN(begin + kStep, whole);
    for (size_t l = 0; l < lanes; l += kSide) {
      for (size_t i = begin; i < end; i += kSide) {
        hn::Vec<BlockTag<T>> v[kSide];
        for (size_t k = 0; k < kSide; ++k) v[k] = hn::LoadU(d, lines[l + k] + i);
        Transpose(d, v);
        for (size_t k = 0; k < kSide; ++k) hn::StoreU(v[k], d, x + ((i + k) ^ flip) * lanes + l);
      }
    }
  }
  for (size_t i = whole; i < n; ++i) {
    for (size_t l = 0; l < lanes; ++l) x[(i ^ flip) * lanes + l] = lines[l][i];
  }
}

template <typename T>
void StoreLines(const T* x, size_t n, size_t flip, T scale, size_t count, T* const* lines) {
  constexpr size_t kSide = kBlock<T>, kStep = kLineBlock<T>;
  const BlockTag<T> d;
  const auto factor = hn::Set(d, scale);
  const size_t lanes = hn::Lanes(Tag<T>());
  const size_t whole = n / kSide * kSide, whole_lines = count / kSide * kSide;
  for (size_t begin = 0; begin < whole; begin += kStep) {
    const size_t end = HWY_MIN(begin + kStep, whole);
    for (size_t l = 0; l < whole_lines; l += kSide) {
      for (size_t i = begin; i < end; i += kSide) {
        hn::Vec<BlockTag<T>> v[kSide];
        for (size_t k = 0; k < kSide; ++k) {
          v[k] = hn::Mul(hn::LoadU(d, x + ((i + k) ^ flip) * lanes + l), factor);
        }
        Transpose(d, v);
        for (size_t k = 0; k < kSide; ++k) hn::StoreU(v[k], d, lines[l + k] + i);
      }
    }
  }
  for (size_t l = 0; l < count; ++l) {
    for (size_t i = l < whole_lines ? whole : 0; i < n; ++i) {
      lines[l][i] = x[(i ^ flip) * lanes + l] * scale;
    }
  }
}

template <typename T>
void LoadNeighbors(const T* first, size_t step, size_t numbers, size_t flip, T* x) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t k = 0; k < numbers; ++k, x += 2 * lanes) {
    hn::Vec<Tag<T>> re, im;
    hn::LoadInterleaved2(d, first + 2 * k * step, re, im);
    hn::Store(re, d, x + flip * lanes);
    hn::Store(im, d, x + (1 - flip) * lanes);
  }
}

template <typename T>
void StoreNeighbors(const T* x, size_t step, size_t numbers, size_t flip, T scale, T* first) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  for (size_t k = 0; k < numbers; ++k, x += 2 * lanes) {
    const auto re = hn::Mul(hn::Load(d, x + flip * lanes), factor);
    const auto im = hn::Mul(hn::Load(d, x + (1 - flip) * lanes), factor);
    hn::StoreInterleaved2(re, im, d, first + 2 * k * step);
  }
}

template <typename T>
FftLines<T> LinesHere() {
  return {hn::Lanes(Tag<T>()),
          &TransformLines<T>,
          &SplitReal<T>,
          &JoinReal<T>,
          &CombineLine<T, SplitNumber<T>>,
          &CombineLine<T, JoinNumber<T>>,
          &Multiply<T>,
          &MultiplyLine<T>,
          &Twist<T>,
          &LoadLines<T>,
          &StoreLines<T>,
          &LoadNeighbors<T>,
          &StoreNeighbors<T>};
}
FftLines<float> FloatFftLines() { return LinesHere<float>(); }
FftLines<double> DoubleFftLines() { return LinesHere<double>(); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(FloatFftLines);
HWY_EXPORT(DoubleFftLines);

template <>
FftLines<float> FindFftLines() {
  return HWY_DYNAMIC_DISPATCH(FloatFftLines)();
}
template <>
FftLines<double> FindFftLines() {
  return HWY_DYNAMIC_DISPATCH(DoubleFftLines)();
}

}  // namespace tenon
#endif
