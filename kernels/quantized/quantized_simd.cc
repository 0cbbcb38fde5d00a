// The loops behind the Find… functions of quantized_simd.h, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized/quantized_simd.cc"
#include "kernels/quantized/quantized_simd.h"

#include <algorithm>
#include <limits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

using ByteTag = hn::Rebind<uint8_t, IntTag>;
using Vi = hn::Vec<IntTag>;

template <class Part>
HWY_INLINE Vi LoadBytes(Part part, const uint8_t* from, size_t step, size_t i) {
  if (step == 0) return hn::Set(IntTag(), *from);
  return hn::PromoteTo(IntTag(), part.Load(ByteTag(), from + i));
}

void MultiplyBytes(const BytePairs& x, int32_t a_zero, int32_t b_zero, int32_t* out, size_t n) {
  const IntTag d;
  const Vi az = hn::Set(d, a_zero), bz = hn::Set(d, b_zero);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vi a = hn::Sub(LoadBytes(part, x.a, x.a_step, i), az);
    const Vi b = hn::Sub(LoadBytes(part, x.b, x.b_step, i), bz);
    part.Store(d, hn::Mul(a, b), out + i);
  });
}

void AddBytes(const BytePairs& x, int32_t a_step, int32_t b_step, int32_t offset, int32_t* out,
              size_t n) {
  const IntTag d;
  const Vi as = hn::Set(d, a_step), bs = hn::Set(d, b_step), more = hn::Set(d, offset);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
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

// y = round(clamp(x) * scale) * inverse, with the parameters at i that `at` returns.
template <typename T, class At>
HWY_INLINE void RoundTripBy(bool clamp, bool half_up, const T* x, T* y, size_t n, At at) {
  const hn::ScalableTag<T> d;
  const auto half = hn::Set(d, T(0.5));
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const auto map = at(part, i);
    auto v = part.Load(d, x + i);
    if (clamp) {
      v = hn::IfThenElse(hn::Lt(map.max, v), map.max, v);
      v = hn::IfThenElse(hn::Lt(v, map.min), map.min, v);
    }
    v = hn::Mul(v, map.scale);
    v = half_up ? hn::Floor(hn::Add(v, half)) : hn::Round(v);
    part.Store(d, hn::Mul(v, map.inverse), y + i);
  });
}
template <typename T>
struct RoundTripVectors {
  hn::Vec<hn::ScalableTag<T>> min, max, scale, inverse;
};

template <typename T>
void RoundTrip(const RoundTripMap<T>& map, const T* x, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const RoundTripVectors<T> vectors = {hn::Set(d, map.min), hn::Set(d, map.max),
                                       hn::Set(d, map.scale), hn::Set(d, map.inverse)};
  RoundTripBy(map.clamp, map.half_up, x, y, n, [&](auto, size_t) HWY_ATTR { return vectors; });
}
RoundTripFn<float> FloatRoundTrip() { return &RoundTrip<float>; }
RoundTripFn<double> DoubleRoundTrip() { return &RoundTrip<double>; }

template <typename T>
void RoundTripEach(const RoundTripColumns<T>& map, const T* x, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  RoundTripBy(map.clamp, map.half_up, x, y, n, [&](auto part, size_t i) HWY_ATTR {
    return RoundTripVectors<T>{part.Load(d, map.min + i), part.Load(d, map.max + i),
                               part.Load(d, map.scale + i), part.Load(d, map.inverse + i)};
  });
}
RoundTripColumnsFn<float> FloatRoundTripColumns() { return &RoundTripEach<float>; }
RoundTripColumnsFn<double> DoubleRoundTripColumns() { return &RoundTripEach<double>; }

// floor(x * inverse + 1/2) + zero, within low and high.
HWY_INLINE Vi UniformInteger(Vf x, Vf inverse, Vi zero, Vi low, Vi high) {
  const IntTag di;
  const Vf rounded = hn::Floor(hn::Add(hn::Mul(x, inverse), Const(0.5f)));
  const auto fits =
      hn::And(hn::Ge(rounded, Const(-2147483648.0f)), hn::Lt(rounded, Const(2147483648.0f)));
  const Vi exact = hn::ConvertTo(di, hn::IfThenElseZero(fits, rounded));
  const Vi least = hn::Set(di, std::numeric_limits<int32_t>::min());
  const Vi q = hn::Add(hn::IfThenElse(hn::RebindMask(di, fits), exact, least), zero);
  return hn::Max(hn::Min(q, high), low);
}
// The lowest bytes.
template <class Part>
HWY_INLINE void StoreBytes(Part part, Vi v, void* to) {
  const hn::RebindToUnsigned<IntTag> du;
  part.Store(ByteTag(), hn::TruncateTo(ByteTag(), hn::BitCast(du, v)), static_cast<uint8_t*>(to));
}
template <typename T, class Part>
HWY_INLINE void StoreAs(Part part, Vi v, T* to) {
  if constexpr (sizeof(T) == 4) {
    part.Store(IntTag(), v, to);
  } else {
    StoreBytes(part, v, to);
  }
}

template <typename T>
void UniformQuantize(const UniformMap& map, const float* x, T* y, size_t n) {
  const FloatTag d;
  const IntTag di;
  const Vf inverse = Const(map.inverse);
  const Vi zero = hn::Set(di, map.zero), low = hn::Set(di, map.low), high = hn::Set(di, map.high);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    StoreAs(part, UniformInteger(part.Load(d, x + i), inverse, zero, low, high), y + i);
  });
}
UniformQuantizeFn<int8_t> ByteUniformQuantize() { return &UniformQuantize<int8_t>; }
UniformQuantizeFn<int32_t> IntUniformQuantize() { return &UniformQuantize<int32_t>; }

template <typename T>
void UniformQuantizeEach(const UniformColumns& map, const float* x, T* y, size_t n) {
  const FloatTag d;
  const IntTag di;
  const Vi low = hn::Set(di, map.low), high = hn::Set(di, map.high);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vf inverse = part.Load(d, map.inverse + i);
    const Vi zero = part.Load(di, map.zero + i);
    StoreAs(part, UniformInteger(part.Load(d, x + i), inverse, zero, low, high), y + i);
  });
}
UniformColumnsFn<int8_t> ByteUniformColumns() { return &UniformQuantizeEach<int8_t>; }
UniformColumnsFn<int32_t> IntUniformColumns() { return &UniformQuantizeEach<int32_t>; }

// An integer within low and high; NaN gives 0.
HWY_INLINE Vi ClampedInteger(Vf v, Vf low, Vf high) {
  const Vf real = hn::IfThenElseZero(hn::Eq(v, v), v);
  return hn::ConvertTo(IntTag(), hn::Min(hn::Max(real, low), high));
}

void Requantize(const RequantizeMap& map, const int32_t* x, uint8_t* y, size_t n) {
  const IntTag d;
  const Vf scale = Const(map.scale), offset = Const(map.offset), factor = Const(map.factor);
  const Vf zero = Const(map.zero), low = Const(map.low), high = Const(map.high);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vf real = hn::Add(offset, hn::Mul(hn::ConvertTo(FloatTag(), part.Load(d, x + i)), scale));
    const Vf v = hn::Mul(real, factor);
    // The addend is the largest float below 1/2. Numbers from 2^23 on are integers.
    const Vf away = hn::Trunc(hn::Add(v, hn::CopySign(Const(0.49999997f), v)));
    const Vf rounded = hn::IfThenElse(hn::Lt(hn::Abs(v), Const(8388608.0f)), away, v);
    StoreBytes(part, ClampedInteger(hn::Sub(rounded, zero), low, high), y + i);
  });
}
RequantizeFn GetRequantize() { return &Requantize; }

void RequantizeEach(const RequantizeColumns& map, const int32_t* x, uint8_t* y, size_t n) {
  const IntTag d;
  const Vf low = Const(map.low), high = Const(map.high);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vf scale = part.Load(FloatTag(), map.scale + i);
    const Vf v = hn::Mul(hn::ConvertTo(FloatTag(), part.Load(d, x + i)), scale);
    StoreBytes(part, ClampedInteger(hn::Round(v), low, high), y + i);
  });
}
RequantizeColumnsFn GetRequantizeColumns() { return &RequantizeEach; }

void FixedPointToBytes(const FixedPointMap& map, const int32_t* x, uint8_t* y, size_t n) {
  const IntTag d;
  const hn::RepartitionToWide<IntTag> dw;
  const hn::RebindToUnsigned<decltype(dw)> duw;
  constexpr int32_t kMost = (256 << 16) - 1;
  const Vi scale = hn::Set(d, map.scale), offset = hn::Set(d, map.offset);
  const Vi low = hn::Set(d, -map.offset), high = hn::Set(d, kMost - map.offset);
  const auto upper_halves = hn::Set(duw, uint64_t{0xFFFFFFFF} << 32);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vi v = part.Load(d, x + i);
    // The upper halves of the products of even and of odd lanes.
    const auto even = hn::ShiftRight<32>(hn::BitCast(duw, hn::MulEven(v, scale)));
    const Vi odd_lanes = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(duw, v)));
    const auto odd = hn::And(hn::BitCast(duw, hn::MulEven(odd_lanes, scale)), upper_halves);
    const Vi top = hn::BitCast(d, hn::Or(even, odd));
    const Vi sum = hn::Add(hn::Min(hn::Max(top, low), high), offset);
    StoreBytes(part, hn::ShiftRight<16>(sum), y + i);
  });
}
FixedPointFn GetFixedPointToBytes() { return &FixedPointToBytes; }

BytesToIntsCode GetBytesToInts() { return {&MultiplyBytes, &AddBytes}; }

RangeSlopes RangeGradient(float low, float high, const float* dy, const float* x, float* dx,
                          size_t n) {
  const FloatTag d;
  const Vf least = hn::Set(d, low), most = hn::Set(d, high), one = hn::Set(d, 1);
  Vf below = hn::Zero(d), above = hn::Zero(d);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const Vf v = part.Load(x + i), slope = part.Load(dy + i);
    const auto inside = hn::And(hn::Ge(v, least), hn::Le(v, most));
    part.Store(hn::Mul(slope, hn::IfThenElseZero(inside, one)), dx + i);
    below = hn::Add(below, part.Keep(hn::Mul(slope, hn::IfThenElseZero(hn::Lt(v, least), one))));
    above = hn::Add(above, part.Keep(hn::Mul(slope, hn::IfThenElseZero(hn::Gt(v, most), one))));
  });
  return {Total(below), Total(above)};
}
RangeGradientFn GetRangeGradient() { return &RangeGradient; }

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
HWY_EXPORT(FloatRoundTripColumns);
HWY_EXPORT(DoubleRoundTripColumns);
HWY_EXPORT(ByteUniformColumns);
HWY_EXPORT(IntUniformColumns);
HWY_EXPORT(GetRequantize);
HWY_EXPORT(GetRequantizeColumns);
HWY_EXPORT(GetFixedPointToBytes);
HWY_EXPORT(GetRangeGradient);

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
template <>
RoundTripColumnsFn<float> FindRoundTripColumns() {
  return HWY_DYNAMIC_DISPATCH(FloatRoundTripColumns)();
}
template <>
RoundTripColumnsFn<double> FindRoundTripColumns() {
  return HWY_DYNAMIC_DISPATCH(DoubleRoundTripColumns)();
}
template <>
UniformColumnsFn<int8_t> FindUniformQuantizeColumns() {
  return HWY_DYNAMIC_DISPATCH(ByteUniformColumns)();
}
template <>
UniformColumnsFn<int32_t> FindUniformQuantizeColumns() {
  return HWY_DYNAMIC_DISPATCH(IntUniformColumns)();
}
RequantizeFn FindRequantize() { return HWY_DYNAMIC_DISPATCH(GetRequantize)(); }
RequantizeColumnsFn FindRequantizeColumns() { return HWY_DYNAMIC_DISPATCH(GetRequantizeColumns)(); }
FixedPointFn FindFixedPointToBytes() { return HWY_DYNAMIC_DISPATCH(GetFixedPointToBytes)(); }
RangeGradientFn FindRangeGradient() { return HWY_DYNAMIC_DISPATCH(GetRangeGradient)(); }

}  // namespace tenon
#endif
