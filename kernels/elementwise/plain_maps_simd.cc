// The loops of plain_maps_simd.h, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/plain_maps_simd.cc"
#include "kernels/elementwise/plain_maps_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

template <typename T>
void ClipRow(const T* x, const ClipBounds<T>& bounds, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  if (n == 0) return;
  const auto least = hn::Set(d, *bounds.low), most = hn::Set(d, *bounds.high);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    const auto low = bounds.low_step == 0 ? least : part.Load(d, bounds.low + i);
    const auto high = bounds.high_step == 0 ? most : part.Load(d, bounds.high + i);
    auto v = part.Load(d, x + i);
    v = hn::IfThenElse(hn::Lt(high, v), high, v);
    part.Store(d, hn::IfThenElse(hn::Lt(v, low), low, v), y + i);
  });
}

template <typename T>
void CountBits(const void* from, uint8_t* y, size_t n) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const T* const x = static_cast<const T*>(from);
  auto count = [&](auto v) HWY_ATTR {
    if constexpr (sizeof(T) == 1) {
      return hn::PopulationCount(v);
    } else {
      return hn::TruncateTo(bytes, hn::PopulationCount(v));
    }
  };
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    part.Store(bytes, count(part.Load(d, x + i)), y + i);
  });
}

// Calls f(a, b) for vectors of the elements in D.
template <class D, typename F>
HWY_INLINE void MapPairs(D d, const void* a, size_t a_step, const void* b, size_t b_step, void* out,
                         size_t n, const F& f) {
  using T = hn::TFromD<D>;
  if (n == 0) return;
  const T *const x = static_cast<const T*>(a), *const y = static_cast<const T*>(b);
  T* const to = static_cast<T*>(out);
  const auto one_x = hn::Set(d, *x), one_y = hn::Set(d, *y);
  ForParts(d, n, [&](auto part, size_t i) HWY_ATTR {
    part.Store(
        d, f(a_step == 0 ? one_x : part.Load(d, x + i), b_step == 0 ? one_y : part.Load(d, y + i)),
        to + i);
  });
}

void MultiplyNoNan(const void* a, size_t a_step, const void* b, size_t b_step, void* out,
                   size_t n) {
  const hn::ScalableTag<float> d;
  MapPairs(d, a, a_step, b, b_step, out, n, [&](auto x, auto y) HWY_ATTR {
    return hn::IfThenZeroElse(hn::Eq(y, hn::Zero(d)), hn::Mul(x, y));
  });
}

// In doubles, which hold 32-bit integers and their products exactly. A quotient is further from the
// next integer than a rounding.
template <bool floor, bool remainder>
void DivideIntegers(const void* a, size_t a_step, const void* b, size_t b_step, void* out,
                    size_t n) {
  const hn::ScalableTag<int32_t> d;
  const hn::Half<decltype(d)> half;
  const hn::ScalableTag<double> wide;
  const auto divide = [&](auto v, auto w) HWY_ATTR {
    const auto x = hn::PromoteTo(wide, v), y = hn::PromoteTo(wide, w);
    const auto ratio = hn::Div(x, y);
    const auto q = floor ? hn::Floor(ratio) : hn::Trunc(ratio);
    if constexpr (remainder) {
      return hn::DemoteTo(half, hn::NegMulAdd(q, y, x));
    } else {
      const auto end = hn::Set(wide, 2147483648.0);
      return hn::DemoteTo(half, hn::IfThenElse(hn::Eq(q, end), hn::Neg(end), q));
    }
  };
  MapPairs(d, a, a_step, b, b_step, out, n, [&](auto v, auto w) HWY_ATTR {
    const auto lower = divide(hn::LowerHalf(half, v), hn::LowerHalf(half, w));
    const auto upper = divide(hn::UpperHalf(half, v), hn::UpperHalf(half, w));
    return hn::Combine(d, upper, lower);
  });
}

PlainBinaryFn GetPlainBinary(PlainBinary op) {
  switch (op) {
    case PlainBinary::kMulNoNan:
      return &MultiplyNoNan;
    case PlainBinary::kTruncatedQuotient:
      return &DivideIntegers<false, false>;
    case PlainBinary::kFloorQuotient:
      return &DivideIntegers<true, false>;
    case PlainBinary::kTruncatedRemainder:
      return &DivideIntegers<false, true>;
    case PlainBinary::kFloorRemainder:
      return &DivideIntegers<true, true>;
  }
  return nullptr;
}

ClipFn<float> ClipFloats() { return &ClipRow<float>; }
ClipFn<double> ClipDoubles() { return &ClipRow<double>; }
ClipFn<int32_t> ClipInts() { return &ClipRow<int32_t>; }
ClipFn<int64_t> ClipLongs() { return &ClipRow<int64_t>; }

CountBitsFn GetCountBits(size_t bytes) {
  return bytes == 1   ? &CountBits<uint8_t>
         : bytes == 2 ? &CountBits<uint16_t>
         : bytes == 4 ? &CountBits<uint32_t>
                      : &CountBits<uint64_t>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(ClipFloats);
HWY_EXPORT(ClipDoubles);
HWY_EXPORT(ClipInts);
HWY_EXPORT(ClipLongs);
HWY_EXPORT(GetCountBits);
HWY_EXPORT(GetPlainBinary);

template <>
ClipFn<float> FindClip() {
  return HWY_DYNAMIC_DISPATCH(ClipFloats)();
}
template <>
ClipFn<double> FindClip() {
  return HWY_DYNAMIC_DISPATCH(ClipDoubles)();
}
template <>
ClipFn<int32_t> FindClip() {
  return HWY_DYNAMIC_DISPATCH(ClipInts)();
}
template <>
ClipFn<int64_t> FindClip() {
  return HWY_DYNAMIC_DISPATCH(ClipLongs)();
}
PlainBinaryFn FindPlainBinary(PlainBinary op) { return HWY_DYNAMIC_DISPATCH(GetPlainBinary)(op); }
CountBitsFn FindCountBits(size_t bytes) { return HWY_DYNAMIC_DISPATCH(GetCountBits)(bytes); }

}  // namespace tenon
#endif
