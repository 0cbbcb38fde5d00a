// The loops behind the Find… functions of quantize_simd.h, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/quantize_simd.cc"
#include "kernels/elementwise/quantize_simd.h"

#include <limits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Like std::max(std::min(x, high), low): NaN stays.
HWY_INLINE Vf ClampLanes(Vf x, Vf low, Vf high) {
  const Vf below = hn::IfThenElse(hn::Lt(high, x), high, x);
  return hn::IfThenElse(hn::Lt(below, low), low, below);
}

// Adds a value such that truncation rounds to the nearest integer, with halves away from 0. The
// addend is the largest float below 1/2: with 1/2 itself, the float below 1/2 would become 1.
HWY_INLINE Vf TowardsAway(Vf x) { return hn::Add(x, hn::CopySign(Const(0.49999997f), x)); }

// The nearest integers, with halves to even, saturated, as bytes: the lowest bits of the sums with
// 1.5 * 2^23. NaN gives 0.
template <typename T>
HWY_INLINE hn::Vec<hn::Rebind<uint8_t, FloatTag>> Rounded(Vf v) {
  using Limits = std::numeric_limits<T>;
  const hn::RebindToUnsigned<FloatTag> du;
  const Vf real = hn::IfThenElseZero(hn::Eq(v, v), v);
  const Vf inside = hn::Min(hn::Max(real, Const(Limits::min())), Const(Limits::max()));
  const auto bits = hn::BitCast(du, hn::Add(inside, Const(12582912.0f)));
  return hn::TruncateTo(hn::Rebind<uint8_t, FloatTag>(), bits);
}
// Stores a whole vector, or the first n.
template <typename T>
HWY_INLINE void StoreNarrow(Vf v, T* y) {
  hn::StoreU(Rounded<T>(v), hn::Rebind<uint8_t, FloatTag>(), reinterpret_cast<uint8_t*>(y));
}
template <typename T>
HWY_INLINE void StoreNarrow(Vf v, T* y, size_t n) {
  StoreFirst(hn::Rebind<uint8_t, FloatTag>(), Rounded<T>(v), reinterpret_cast<uint8_t*>(y), n);
}

// Integers as floats: a whole vector, or the first n.
template <typename T>
HWY_INLINE Vf LoadIntegers(const T* from) {
  const hn::Rebind<T, FloatTag> narrow;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), hn::LoadU(narrow, from)));
}
template <typename T>
HWY_INLINE Vf LoadIntegers(const T* from, size_t n) {
  const hn::Rebind<T, FloatTag> narrow;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), LoadFirst(narrow, from, n)));
}

template <typename T, QuantizeMap::Round kRound>
void QuantizeAs(const QuantizeMap& map, const float* x, void* out, size_t n) {
  const size_t lanes = hn::Lanes(FloatTag());
  const Vf low = Const(map.low), high = Const(map.high), scale = Const(map.scale);
  const Vf origin = Const(map.origin), zero = Const(map.zero);
  T* y = static_cast<T*>(out);
  auto one = [&](Vf v) HWY_ATTR {
    v = hn::Add(hn::Mul(hn::Sub(ClampLanes(v, low, high), origin), scale), zero);
    if constexpr (kRound == QuantizeMap::Round::kHalfToEven) return v;
    return hn::Trunc(kRound == QuantizeMap::Round::kHalfAway ? TowardsAway(v) : v);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreNarrow<T>(one(hn::LoadU(FloatTag(), x + i)), y + i);
  if (i < n) StoreNarrow<T>(one(LoadTail(x + i, n - i)), y + i, n - i);
}

template <typename T>
void Quantize(const QuantizeMap& map, const float* x, void* out, size_t n) {
  using Round = QuantizeMap::Round;
  switch (map.round) {
    case Round::kHalfToEven:
      return QuantizeAs<T, Round::kHalfToEven>(map, x, out, n);
    case Round::kHalfAway:
      return QuantizeAs<T, Round::kHalfAway>(map, x, out, n);
    case Round::kDown:
      return QuantizeAs<T, Round::kDown>(map, x, out, n);
  }
}

template <typename T>
void Dequantize(const DequantizeMap& map, const void* from, float* y, size_t n) {
  const size_t lanes = hn::Lanes(FloatTag());
  const T* x = static_cast<const T*>(from);
  const Vf half = Const(map.half), scale = Const(map.scale), offset = Const(map.offset);
  auto one = [&](Vf v) HWY_ATTR { return hn::Add(hn::Mul(hn::Add(v, half), scale), offset); };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(one(LoadIntegers(x + i)), FloatTag(), y + i);
  if (i < n) StoreTail(one(LoadIntegers(x + i, n - i)), y + i, n - i);
}

void RoundToSteps(const StepsMap& map, const float* x, float* y, size_t n) {
  const size_t lanes = hn::Lanes(FloatTag());
  const Vf low = Const(map.low), high = Const(map.high), scale = Const(map.scale);
  const Vf inverse = Const(map.inverse), zero = Const(map.zero);
  auto one = [&](Vf v) HWY_ATTR {
    const Vf shifted = hn::Sub(ClampLanes(v, low, high), low);
    const Vf steps = map.divide ? hn::Div(shifted, scale) : hn::Mul(shifted, inverse);
    return hn::Mul(hn::Floor(hn::Add(hn::Sub(steps, zero), Const(0.5f))), scale);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(one(hn::LoadU(FloatTag(), x + i)), FloatTag(), y + i);
  if (i < n) StoreTail(one(LoadTail(x + i, n - i)), y + i, n - i);
}

void RoundColumns(const StepsColumns& map, const float* x, float* y, size_t n) {
  const size_t lanes = hn::Lanes(FloatTag());
  auto one = [&](auto load, size_t i) HWY_ATTR {
    const Vf low = load(map.low + i);
    const Vf shifted = hn::Sub(ClampLanes(load(x + i), low, load(map.high + i)), low);
    const Vf steps = hn::Sub(hn::Mul(shifted, load(map.inverse + i)), load(map.zero + i));
    return hn::Mul(hn::Floor(hn::Add(steps, Const(0.5f))), load(map.scale + i));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(one([](const float* p) HWY_ATTR { return hn::LoadU(FloatTag(), p); }, i), FloatTag(),
               y + i);
  }
  if (i == n) return;
  const size_t rest = n - i;
  StoreTail(one([rest](const float* p) HWY_ATTR { return LoadTail(p, rest); }, i), y + i, rest);
}

template <typename A, typename B, typename Y>
void AddIntegers(const AddIntegersMap& map, const void* left, const void* right, void* out,
                 size_t n) {
  const size_t lanes = hn::Lanes(FloatTag());
  const A* a = static_cast<const A*>(left);
  const B* b = static_cast<const B*>(right);
  Y* y = static_cast<Y*>(out);
  const Vf a_scale = Const(map.a_scale), b_scale = Const(map.b_scale), offset = Const(map.offset);
  const Vf low = Const(map.low), high = Const(map.high);
  auto one = [&](Vf x, Vf z) HWY_ATTR {
    return hn::Round(
        ClampLanes(hn::Add(hn::Add(hn::Mul(x, a_scale), hn::Mul(z, b_scale)), offset), low, high));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    StoreNarrow<Y>(one(LoadIntegers(a + i), LoadIntegers(b + i)), y + i);
  }
  if (i < n) {
    StoreNarrow<Y>(one(LoadIntegers(a + i, n - i), LoadIntegers(b + i, n - i)), y + i, n - i);
  }
}

template <typename A, typename B>
AddIntegersFn AddIntegersTo(EightBits y) {
  return y == EightBits::kSigned ? &AddIntegers<A, B, int8_t> : &AddIntegers<A, B, uint8_t>;
}
template <typename A>
AddIntegersFn AddIntegersWith(EightBits b, EightBits y) {
  return b == EightBits::kSigned ? AddIntegersTo<A, int8_t>(y) : AddIntegersTo<A, uint8_t>(y);
}
AddIntegersFn GetAddIntegers(EightBits a, EightBits b, EightBits y) {
  return a == EightBits::kSigned ? AddIntegersWith<int8_t>(b, y) : AddIntegersWith<uint8_t>(b, y);
}

template <typename T>
void SumIntegers(const void* from, int32_t* sums, size_t n) {
  const hn::Rebind<T, IntTag> narrow;
  const size_t lanes = hn::Lanes(IntTag());
  const T* x = static_cast<const T*>(from);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::PromoteTo(IntTag(), hn::LoadU(narrow, x + i));
    hn::StoreU(hn::Add(hn::LoadU(IntTag(), sums + i), v), IntTag(), sums + i);
  }
  for (; i < n; ++i) sums[i] += x[i];
}
SumIntegersFn GetSumIntegers(EightBits type) {
  return type == EightBits::kSigned ? &SumIntegers<int8_t> : &SumIntegers<uint8_t>;
}

QuantizeFn GetQuantize(EightBits type) {
  return type == EightBits::kSigned ? &Quantize<int8_t> : &Quantize<uint8_t>;
}
DequantizeFn GetDequantize(EightBits type) {
  return type == EightBits::kSigned ? &Dequantize<int8_t> : &Dequantize<uint8_t>;
}
RoundToStepsFn GetRoundToSteps() { return &RoundToSteps; }
RoundColumnsFn GetRoundColumns() { return &RoundColumns; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetQuantize);
HWY_EXPORT(GetDequantize);
HWY_EXPORT(GetRoundToSteps);
HWY_EXPORT(GetRoundColumns);
HWY_EXPORT(GetAddIntegers);
HWY_EXPORT(GetSumIntegers);

QuantizeFn FindQuantize(EightBits type) { return HWY_DYNAMIC_DISPATCH(GetQuantize)(type); }
DequantizeFn FindDequantize(EightBits type) { return HWY_DYNAMIC_DISPATCH(GetDequantize)(type); }
RoundToStepsFn FindRoundToSteps() { return HWY_DYNAMIC_DISPATCH(GetRoundToSteps)(); }
RoundColumnsFn FindRoundColumns() { return HWY_DYNAMIC_DISPATCH(GetRoundColumns)(); }
AddIntegersFn FindAddIntegers(EightBits a, EightBits b, EightBits y) {
  return HWY_DYNAMIC_DISPATCH(GetAddIntegers)(a, b, y);
}
SumIntegersFn FindSumIntegers(EightBits type) { return HWY_DYNAMIC_DISPATCH(GetSumIntegers)(type); }

}  // namespace tenon
#endif
