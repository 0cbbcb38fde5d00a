// The loops behind FindDepthwiseFloatLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/depthwise_floats_simd.cc"
#include "kernels/convolution/depthwise_floats_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace depthwise_floats {

// Sums of adjacent pixels stay in registers, with a row of the filter and a pixel of the image.
constexpr size_t kMostPixels = HWY_TARGET <= HWY_AVX3 ? 8 : 6;

HWY_INLINE Vf FinishedSum(const DepthwiseLine& p, Vf sum, size_t channel, size_t at) {
  const FloatTag d;
  if (p.bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, p.bias + channel));
  if (p.addend != nullptr) sum = hn::Add(sum, hn::LoadU(d, p.addend + at));
  // NaN stays.
  if (p.clamp_low) sum = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);
  const Vf six = hn::Set(d, 6.0f);
  if (p.clamp_high) sum = hn::IfThenElse(hn::Lt(six, sum), six, sum);
  return sum;
}

// The pixels [pixel, pixel + pixels), for a vector of channels. `inside`: their windows are in the
// image.
template <size_t window, size_t pixels, bool inside>
HWY_INLINE void ComputeVector(const DepthwiseLine& p, size_t pixel, size_t channel) {
  const FloatTag d;
  const auto channels = static_cast<int64_t>(p.channels);
  const int64_t first = static_cast<int64_t>(pixel) - p.pad;
  // The columns of the windows that are in the image.
  const auto low = static_cast<size_t>(std::max<int64_t>(0, -first));
  const auto high = static_cast<size_t>(std::max<int64_t>(0, p.width - first));
  Vf sums[pixels];
#pragma GCC unroll 8
  for (Vf& sum : sums) sum = hn::Zero(d);
  for (size_t r = 0; r < p.num_rows; ++r) {
    const float* HWY_RESTRICT filter = p.filters[r] + channel;
    const float* HWY_RESTRICT row = p.rows[r] + channel;
    Vf weights[window];
#pragma GCC unroll 16
    for (size_t k = 0; k < window; ++k, filter += channels) weights[k] = hn::LoadU(d, filter);
    int64_t at = first * channels;
#pragma GCC unroll 32
    for (size_t i = 0; i < pixels + window - 1; ++i, at += channels) {
      // Padding is narrower than a window.
      const bool at_edge = i + 1 < window || i >= pixels;
      if (!inside && at_edge && (i < low || i >= high)) continue;
      const Vf x = hn::LoadU(d, row + at);
#pragma GCC unroll 8
      for (size_t o = 0; o < pixels; ++o) {
        if (i >= o && i - o < window) {
          sums[o] = hn::MulAdd(x, weights[i - o], sums[o]);
        }
      }
    }
  }
  const size_t at = pixel * p.channels + channel;
#pragma GCC unroll 8
  for (size_t o = 0; o < pixels; ++o) {
    const size_t to = at + o * p.channels;
    hn::StoreU(FinishedSum(p, sums[o], channel, to), d, p.out + to);
  }
}

template <size_t window, size_t pixels, bool inside>
void ComputeBlock(const DepthwiseLine& p, size_t pixel) {
  const size_t lanes = hn::Lanes(FloatTag());
  // The last vector may overlap the one before.
  for (size_t c = 0; c < p.channels; c += lanes) {
    ComputeVector<window, pixels, inside>(p, pixel, std::min(c, p.channels - lanes));
  }
}

using BlockFn = void (*)(const DepthwiseLine&, size_t);
using BlockFns = std::array<BlockFn, kMostPixels>;  // by pixels - 1
template <size_t window, bool inside, size_t... pixels>
constexpr BlockFns BlocksOf(std::index_sequence<pixels...>) {
  return {&ComputeBlock<window, pixels + 1, inside>...};
}

template <size_t window>
void ComputeLine(const DepthwiseLine& p) {
  constexpr auto kPixels = std::make_index_sequence<kMostPixels>();
  static constexpr BlockFns kInside = BlocksOf<window, true>(kPixels);
  static constexpr BlockFns kAtEdge = BlocksOf<window, false>(kPixels);
  // Blocks of about the same size.
  const size_t blocks = (p.pixels + kMostPixels - 1) / kMostPixels;
  for (size_t b = 0, pixel = 0; b < blocks; ++b) {
    const size_t end = p.pixels * (b + 1) / blocks;
    const bool inside = static_cast<int64_t>(pixel) >= p.pad &&
                        static_cast<int64_t>(end - 1 + window) <= p.width + p.pad;
    (inside ? kInside : kAtEdge)[end - pixel - 1](p, pixel);
    pixel = end;
  }
}

// oneDNN's kernels are faster for smaller windows (but see conv_depthwise.cc), with strides, and,
// unless there are 32 registers, for 7 and 9 columns. Two threads of Zen 4, its time over that of
// these loops: 56x56x96, 7x7: 1.34; 28x28x192, 7x7: 1.5, 11x11: 1.18; 14x14x384, 9x9: 1.12;
// 28x28x64, 13x13: 1.4; 5x5: 0.85 to 0.97; 3x3: 0.7. With AVX2, 7x7: 0.73 to 1.0; 28x28x192,
// 11x11: 1.34; 28x28x64, 13x13: 6.
DepthwiseLineFn LoopsOf(int64_t window) {
  if constexpr (HWY_TARGET <= HWY_AVX3) {
    if (window == 3) return &ComputeLine<3>;
    if (window == 7) return &ComputeLine<7>;
    if (window == 9) return &ComputeLine<9>;
  }
  if (window == 11) return &ComputeLine<11>;
  if (window == 13) return &ComputeLine<13>;
  return nullptr;
}

}  // namespace depthwise_floats

DepthwiseFloatLoops DepthwiseFloatsOfTarget(int64_t window) {
  return {depthwise_floats::LoopsOf(window), hn::Lanes(FloatTag())};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(DepthwiseFloatsOfTarget);

DepthwiseFloatLoops FindDepthwiseFloatLoops(int64_t window) {
  return HWY_DYNAMIC_DISPATCH(DepthwiseFloatsOfTarget)(window);
}

}  // namespace tenon
#endif
