// The loops behind FindClip and FindCountBits, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/plain_maps_simd.cc"
#include "kernels/elementwise/plain_maps_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

template <typename T>
void ClipRow(const T* x, const ClipBounds<T>& bounds, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  if (n == 0) return;
  const auto least = hn::Set(d, *bounds.low), most = hn::Set(d, *bounds.high);
  auto clip = [&](auto load, size_t i) HWY_ATTR {
    const auto low = bounds.low_step == 0 ? least : load(bounds.low + i);
    const auto high = bounds.high_step == 0 ? most : load(bounds.high + i);
    auto v = load(x + i);
    v = hn::IfThenElse(hn::Lt(high, v), high, v);
    return hn::IfThenElse(hn::Lt(v, low), low, v);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(clip([d](const T* from) HWY_ATTR { return hn::LoadU(d, from); }, i), d, y + i);
  }
  if (i == n) return;
  const size_t rest = n - i;
  StoreFirst(d, clip([d, rest](const T* from) HWY_ATTR { return LoadFirst(d, from, rest); }, i),
             y + i, rest);
}

template <typename T>
void CountBits(const void* from, uint8_t* y, size_t n) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const size_t lanes = hn::Lanes(d);
  const T* const x = static_cast<const T*>(from);
  auto count = [&](auto v) HWY_ATTR {
    if constexpr (sizeof(T) == 1) {
      return hn::PopulationCount(v);
    } else {
      return hn::TruncateTo(bytes, hn::PopulationCount(v));
    }
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(count(hn::LoadU(d, x + i)), bytes, y + i);
  if (i < n) StoreFirst(bytes, count(LoadFirst(d, x + i, n - i)), y + i, n - i);
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
