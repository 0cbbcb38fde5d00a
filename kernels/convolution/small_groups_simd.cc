// The loops behind FindSmallGroupsLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/small_groups_simd.cc"
#include "kernels/convolution/small_groups_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

constexpr size_t kGroupPixels = 6;  // computed together

// Channel j of each lane's group.
template <size_t group, size_t j>
HWY_INLINE Vf ChannelOfGroup(Vf x) {
  if constexpr (group == 2) return j == 0 ? hn::DupEven(x) : hn::DupOdd(x);
  if constexpr (group == 4) return hn::Broadcast<j>(x);
}

template <size_t group, size_t pixels, size_t... j>
HWY_INLINE void AddTap(const Vf (&x)[pixels], const float* filter, Vf (&sums)[pixels],
                       std::index_sequence<j...>) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto add = [&](auto channel) HWY_ATTR {
    constexpr size_t k = decltype(channel)::value;
    const Vf weights = hn::LoadU(d, filter + k * lanes);
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; ++p) {
      sums[p] = hn::MulAdd(ChannelOfGroup<group, k>(x[p]), weights, sums[p]);
    }
  };
  (add(std::integral_constant<size_t, j>()), ...);
}

// `load` and `store` access the channels of one panel.
template <size_t group, size_t pixels, class Load, class Store>
HWY_INLINE void ComputePanel(const SmallGroups& s, size_t pixel, size_t channel, Load load,
                             Store store) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const float* const image = s.image + pixel * s.image_step + channel;
  const float* const filter = s.filter + channel / lanes * s.filter_panel;
  Vf sums[pixels];
#pragma GCC unroll 8
  for (Vf& sum : sums) sum = hn::Zero(d);
  for (size_t t = 0; t < s.num_taps; ++t) {
    Vf x[pixels];
#pragma GCC unroll 8
    for (size_t p = 0; p < pixels; ++p) x[p] = load(image + s.taps[t].image + p * s.image_step);
    AddTap<group, pixels>(x, filter + s.taps[t].filter * lanes, sums,
                          std::make_index_sequence<group>());
  }
  float* const out = s.out + pixel * s.channels + channel;
#pragma GCC unroll 8
  for (size_t p = 0; p < pixels; ++p) store(sums[p], out + p * s.channels);
}

template <size_t group, size_t pixels>
void ComputeGroupPixels(const SmallGroups& s, size_t pixel) {
  ForParts(s.channels, [&](auto part, size_t channel) HWY_ATTR {
    ComputePanel<group, pixels>(
        s, pixel, channel, [&](const float* at) HWY_ATTR { return part.Load(at); },
        [&](Vf sum, float* to) HWY_ATTR { part.Store(sum, to); });
  });
}

using GroupPixelsFn = void (*)(const SmallGroups&, size_t);
template <size_t group, size_t... pixels>
constexpr std::array<GroupPixelsFn, kGroupPixels> GroupPixels(std::index_sequence<pixels...>) {
  return {&ComputeGroupPixels<group, pixels + 1>...};
}

void ComputeSmallGroups(const SmallGroups& s) {
  constexpr auto kPixels = std::make_index_sequence<kGroupPixels>();
  static constexpr auto kTwo = GroupPixels<2>(kPixels);
  static constexpr auto kFour = GroupPixels<4>(kPixels);
  const auto& compute = s.group == 2 ? kTwo : kFour;
  for (size_t pixel = 0; pixel < s.pixels;) {
    const size_t pixels = std::min(kGroupPixels, s.pixels - pixel);
    compute[pixels - 1](s, pixel);
    pixel += pixels;
  }
}

SmallGroupsLoops SmallGroupsOfTarget() { return {&ComputeSmallGroups, hn::Lanes(FloatTag())}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(SmallGroupsOfTarget);

SmallGroupsLoops FindSmallGroupsLoops() { return HWY_DYNAMIC_DISPATCH(SmallGroupsOfTarget)(); }

}  // namespace tenon
#endif
