// The loops behind FindClip and FindCountBits, compiled for each instruction set.
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
CountBitsFn FindCountBits(size_t bytes) { return HWY_DYNAMIC_DISPATCH(GetCountBits)(bytes); }

}  // namespace tenon
#endif
