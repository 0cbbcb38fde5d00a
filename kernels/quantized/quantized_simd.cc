// The loops behind the Find… functions of quantized_simd.h, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized/quantized_simd.cc"
#include "kernels/quantized/quantized_simd.h"

#include <algorithm>
#include <limits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

using ByteTag = hn::Rebind<uint8_t, IntTag>;
using Vi = hn::Vec<IntTag>;

template <class D>
using TypeOf = hn::TFromD<D>;

// f(load, store, i) for whole vectors, then for the rest.
struct Whole {
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const TypeOf<D>* from) const {
    return hn::LoadU(d, from);
  }
  template <class D>
  HWY_INLINE void Store(D d, hn::Vec<D> v, TypeOf<D>* to) const {
    hn::StoreU(v, d, to);
  }
};
struct Rest {
  size_t n;
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const TypeOf<D>* from) const {
    return LoadFirst(d, from, n);
  }
  template <class D>
  HWY_INLINE void Store(D d, hn::Vec<D> v, TypeOf<D>* to) const {
    StoreFirst(d, v, to, n);
  }
};
template <class D, class F>
HWY_INLINE void ForVectors(D d, size_t n, F f) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) f(Whole(), i);
  if (i < n) f(Rest{n - i}, i);
}

template <class Part>
HWY_INLINE Vi LoadBytes(Part part, const uint8_t* from, size_t step, size_t i) {
  if (step == 0) return hn::Set(IntTag(), *from);
  return hn::PromoteTo(IntTag(), part.Load(ByteTag(), from + i));
}

void MultiplyBytes(const BytePairs& x, int32_t a_zero, int32_t b_zero, int32_t* out, size_t n) {
  const IntTag d;
  const Vi az = hn::Set(d, a_zero), bz = hn::Set(d, b_zero);
  ForVectors(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vi a = hn::Sub(LoadBytes(part, x.a, x.a_step, i), az);
    const Vi b = hn::Sub(LoadBytes(part, x.b, x.b_step, i), bz);
    part.Store(d, hn::Mul(a, b), out + i);
  });
}

void AddBytes(const BytePairs& x, int32_t a_step, int32_t b_step, int32_t offset, int32_t* out,
              size_t n) {
  const IntTag d;
  const Vi as = hn::Set(d, a_step), bs = hn::Set(d, b_step), more = hn::Set(d, offset);
  ForVectors(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vi a = hn::Mul(LoadBytes(part, x.a, x.a_step, i), as);
    const Vi b = hn::Mul(LoadBytes(part, x.b, x.b_step, i), bs);
    part.Store(d, hn::Add(hn::Add(a, b), more), out + i);
  });
}

template <typename T>
Extremes<T> FindIn(const T* x, size_t n, Extremes<T> before) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  // Four of each keep several comparisons going.
  constexpr size_t kSums = 4;
  hn::Vec<decltype(d)> low[kSums], high[kSums];
  for (size_t k = 0; k < kSums; ++k) {
    low[k] = hn::Set(d, before.low);
    high[k] = hn::Set(d, before.high);
  }
  size_t i = 0;
  for (; i + kSums * lanes <= n; i += kSums * lanes) {
#pragma GCC unroll 4
    for (size_t k = 0; k < kSums; ++k) {
      const auto v = hn::LoadU(d, x + i + k * lanes);
      low[k] = hn::IfThenElse(hn::Lt(v, low[k]), v, low[k]);
      high[k] = hn::IfThenElse(hn::Lt(high[k], v), v, high[k]);
    }
  }
  HWY_ALIGN T lanes_of[hn::MaxLanes(d)];
  for (size_t k = 0; k < kSums; ++k) {
    hn::Store(low[k], d, lanes_of);
    before.low = std::min(before.low, *std::min_element(lanes_of, lanes_of + lanes));
    hn::Store(high[k], d, lanes_of);
    before.high = std::max(before.high, *std::max_element(lanes_of, lanes_of + lanes));
  }
  for (; i < n; ++i) {
    before.low = std::min(before.low, x[i]);
    before.high = std::max(before.high, x[i]);
  }
  return before;
}
ExtremesFn<float> FloatExtremes() { return &FindIn<float>; }
ExtremesFn<double> DoubleExtremes() { return &FindIn<double>; }
ExtremesFn<int32_t> IntExtremes() { return &FindIn<int32_t>; }

template <typename T>
void RoundTrip(const RoundTripMap<T>& map, const T* x, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const auto min = hn::Set(d, map.min), max = hn::Set(d, map.max), half = hn::Set(d, T(0.5));
  const auto scale = hn::Set(d, map.scale), inverse = hn::Set(d, map.inverse);
  ForVectors(d, n, [&](auto part, size_t i) HWY_ATTR {
    auto v = part.Load(d, x + i);
    if (map.clamp) {
      v = hn::IfThenElse(hn::Lt(max, v), max, v);
      v = hn::IfThenElse(hn::Lt(v, min), min, v);
    }
    v = hn::Mul(v, scale);
    v = map.half_up ? hn::Floor(hn::Add(v, half)) : hn::Round(v);
    part.Store(d, hn::Mul(v, inverse), y + i);
  });
}
RoundTripFn<float> FloatRoundTrip() { return &RoundTrip<float>; }
RoundTripFn<double> DoubleRoundTrip() { return &RoundTrip<double>; }

template <typename T>
void UniformQuantize(const UniformMap& map, const float* x, T* y, size_t n) {
  const FloatTag d;
  const IntTag di;
  const Vi zero = hn::Set(di, map.zero), low = hn::Set(di, map.low), high = hn::Set(di, map.high);
  const Vi least = hn::Set(di, std::numeric_limits<int32_t>::min());
  ForVectors(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vf v = hn::Mul(part.Load(d, x + i), Const(map.inverse));
    const Vf rounded = hn::Floor(hn::Add(v, Const(0.5f)));
    const auto fits =
        hn::And(hn::Ge(rounded, Const(-2147483648.0f)), hn::Lt(rounded, Const(2147483648.0f)));
    const Vi exact = hn::ConvertTo(di, hn::IfThenElseZero(fits, rounded));
    Vi q = hn::Add(hn::IfThenElse(hn::RebindMask(di, fits), exact, least), zero);
    q = hn::Max(hn::Min(q, high), low);
    if constexpr (sizeof(T) == 4) {
      part.Store(di, q, y + i);
    } else {
      const hn::RebindToUnsigned<IntTag> du;
      part.Store(ByteTag(), hn::TruncateTo(ByteTag(), hn::BitCast(du, q)),
                 reinterpret_cast<uint8_t*>(y + i));
    }
  });
}
UniformQuantizeFn<int8_t> ByteUniformQuantize() { return &UniformQuantize<int8_t>; }
UniformQuantizeFn<int32_t> IntUniformQuantize() { return &UniformQuantize<int32_t>; }

void FixedPointToBytes(const FixedPointMap& map, const int32_t* x, uint8_t* y, size_t n) {
  const IntTag d;
  const hn::RepartitionToWide<IntTag> dw;
  const hn::RebindToUnsigned<decltype(dw)> duw;
  const hn::RebindToUnsigned<IntTag> du;
  constexpr int32_t kMost = (256 << 16) - 1;
  const Vi scale = hn::Set(d, map.scale), offset = hn::Set(d, map.offset);
  const Vi low = hn::Set(d, -map.offset), high = hn::Set(d, kMost - map.offset);
  const auto upper_halves = hn::Set(duw, uint64_t{0xFFFFFFFF} << 32);
  ForVectors(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vi v = part.Load(d, x + i);
    // The upper halves of the products of even and of odd lanes.
    const auto even = hn::ShiftRight<32>(hn::BitCast(duw, hn::MulEven(v, scale)));
    const Vi odd_lanes = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(duw, v)));
    const auto odd = hn::And(hn::BitCast(duw, hn::MulEven(odd_lanes, scale)), upper_halves);
    const Vi top = hn::BitCast(d, hn::Or(even, odd));
    const Vi sum = hn::Add(hn::Min(hn::Max(top, low), high), offset);
    part.Store(ByteTag(), hn::TruncateTo(ByteTag(), hn::BitCast(du, hn::ShiftRight<16>(sum))),
               y + i);
  });
}
FixedPointFn GetFixedPointToBytes() { return &FixedPointToBytes; }

BytesToIntsCode GetBytesToInts() { return {&MultiplyBytes, &AddBytes}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetBytesToInts);
HWY_EXPORT(FloatExtremes);
HWY_EXPORT(DoubleExtremes);
HWY_EXPORT(IntExtremes);
HWY_EXPORT(FloatRoundTrip);
HWY_EXPORT(DoubleRoundTrip);
HWY_EXPORT(ByteUniformQuantize);
HWY_EXPORT(IntUniformQuantize);
HWY_EXPORT(GetFixedPointToBytes);

BytesToIntsCode FindBytesToInts() { return HWY_DYNAMIC_DISPATCH(GetBytesToInts)(); }
template <>
ExtremesFn<float> FindExtremes() {
  return HWY_DYNAMIC_DISPATCH(FloatExtremes)();
}
template <>
ExtremesFn<double> FindExtremes() {
  return HWY_DYNAMIC_DISPATCH(DoubleExtremes)();
}
template <>
ExtremesFn<int32_t> FindExtremes() {
  return HWY_DYNAMIC_DISPATCH(IntExtremes)();
}
template <>
RoundTripFn<float> FindRoundTrip() {
  return HWY_DYNAMIC_DISPATCH(FloatRoundTrip)();
}
template <>
RoundTripFn<double> FindRoundTrip() {
  return HWY_DYNAMIC_DISPATCH(DoubleRoundTrip)();
}
template <>
UniformQuantizeFn<int8_t> FindUniformQuantize() {
  return HWY_DYNAMIC_DISPATCH(ByteUniformQuantize)();
}
template <>
UniformQuantizeFn<int32_t> FindUniformQuantize() {
  return HWY_DYNAMIC_DISPATCH(IntUniformQuantize)();
}
FixedPointFn FindFixedPointToBytes() { return HWY_DYNAMIC_DISPATCH(GetFixedPointToBytes)(); }

}  // namespace tenon
#endif
