// The loops behind LargestMagnitude, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/contraction/magnitude_simd.cc"
#include "kernels/contraction/magnitude_simd.h"

#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
T Largest(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  const auto mask = hn::Set(d, static_cast<T>(T(~T(0)) >> 1));
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Max(a, hn::And(mask, hn::LoadU(d, x + i)));
    b = hn::Max(b, hn::And(mask, hn::LoadU(d, x + i + lanes)));
    c = hn::Max(c, hn::And(mask, hn::LoadU(d, x + i + 2 * lanes)));
    e = hn::Max(e, hn::And(mask, hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Max(a, hn::And(mask, hn::LoadU(d, x + i)));
  HWY_ALIGN T each[hn::MaxLanes(d)];
  hn::Store(hn::Max(hn::Max(a, b), hn::Max(c, e)), d, each);
  T largest = *std::max_element(each, each + lanes);
  for (; i < n; ++i) largest = std::max<T>(largest, x[i] & (T(~T(0)) >> 1));
  return largest;
}

uint32_t LargestFloat(const uint32_t* x, size_t n) { return Largest(x, n); }
uint16_t LargestBfloat16(const uint16_t* x, size_t n) { return Largest(x, n); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LargestFloat);
HWY_EXPORT(LargestBfloat16);

uint32_t LargestMagnitude(const uint32_t* x, size_t n) {
  return HWY_DYNAMIC_DISPATCH(LargestFloat)(x, n);
}
uint16_t LargestMagnitude(const uint16_t* x, size_t n) {
  return HWY_DYNAMIC_DISPATCH(LargestBfloat16)(x, n);
}

}  // namespace tenon
#endif
