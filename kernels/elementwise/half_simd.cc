#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/half_simd.cc"
#include "kernels/elementwise/half_simd.h"

#include <Eigen/Core>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;

// There is no instruction for it before AVX2.
constexpr bool kHasInstructions = HWY_TARGET <= HWY_AVX2;

void WidenHalves(const uint16_t* from, float* to, size_t n) {
  size_t i = 0;
  if constexpr (kHasInstructions) {
    const FloatTag d;
    const auto* const halves = reinterpret_cast<const hwy::float16_t*>(from);
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      hn::StoreU(hn::PromoteTo(d, hn::LoadU(HalfTag(), halves + i)), d, to + i);
    }
  }
  for (; i < n; ++i) {
    to[i] = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(from[i]));
  }
}

void NarrowToHalves(const float* from, uint16_t* to, size_t n) {
  size_t i = 0;
  if constexpr (kHasInstructions) {
    const FloatTag d;
    auto* const halves = reinterpret_cast<hwy::float16_t*>(to);
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      hn::StoreU(hn::DemoteTo(HalfTag(), hn::LoadU(d, from + i)), HalfTag(), halves + i);
    }
  }
  for (; i < n; ++i) {
    to[i] = Eigen::numext::bit_cast<uint16_t>(static_cast<Eigen::half>(from[i]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(WidenHalves);
HWY_EXPORT(NarrowToHalves);

void WidenHalf(const uint16_t* from, float* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(WidenHalves)(from, to, n);
}
void NarrowToHalf(const float* from, uint16_t* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(NarrowToHalves)(from, to, n);
}

}  // namespace tenon
#endif
