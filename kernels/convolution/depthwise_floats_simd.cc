// The loops behind FindDepthwiseFloatLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/depthwise_floats_simd.cc"
#include "kernels/convolution/depthwise_floats_simd.h"

#include <algorithm>
#include <array>
#include <limits>
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

// The pixels [pixel, pixel + pixels), for a vector of channels. `inside`: their windows are in the
// image. `line` is a copy, which stores cannot change.
template <size_t window, size_t stride, size_t pixels, bool inside>
HWY_INLINE void ComputeVector(const DepthwiseLine line, size_t pixel, size_t channel) {
  const FloatTag d;
  const auto row_pixel = static_cast<int64_t>(line.row_pixel);
  const int64_t first = static_cast<int64_t>(pixel * stride) - line.pad;
  // The columns of the windows that are in the image.
  const auto low = static_cast<size_t>(std::max<int64_t>(0, -first));
  const auto high = static_cast<size_t>(std::max<int64_t>(0, line.width - first));
  const Vf bias = line.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, line.bias + channel);
  Vf sums[pixels];
#pragma GCC unroll 8
  for (Vf& sum : sums) sum = hn::Zero(d);
  for (size_t r = 0; r < line.num_rows; ++r) {
    const float* HWY_RESTRICT filter = line.filters[r] + channel;
    const float* HWY_RESTRICT row = line.rows[r] + channel + first * row_pixel;
    Vf weights[window];
#pragma GCC unroll 16
    for (size_t k = 0; k < window; ++k, filter += line.pixel) weights[k] = hn::LoadU(d, filter);
#pragma GCC unroll 32
    for (size_t i = 0; i < (pixels - 1) * stride + window; ++i, row += row_pixel) {
      // Padding is narrower than a window.
      const bool at_edge = i + 1 < window || i > (pixels - 1) * stride;
      if (!inside && at_edge && (i < low || i >= high)) continue;
      const Vf x = hn::LoadU(d, row);
#pragma GCC unroll 8
      for (size_t o = 0; o < pixels; ++o) {
        if (i >= o * stride && i - o * stride < window) {
          sums[o] = hn::MulAdd(x, weights[i - o * stride], sums[o]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (Vf& sum : sums) sum = hn::Add(sum, bias);
  const size_t at = pixel * line.pixel + channel;
  if (line.addend != nullptr) {
#pragma GCC unroll 8
    for (size_t o = 0; o < pixels; ++o) {
      sums[o] = hn::Add(sums[o], hn::LoadU(d, line.addend + at + o * line.pixel));
    }
  }
  if (line.clamp_low || line.clamp_high) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Vf least = hn::Set(d, line.clamp_low ? 0.0f : -kInfinity);
    const Vf most = hn::Set(d, line.clamp_high ? 6.0f : kInfinity);
    // NaN stays: it is the second operand.
#pragma GCC unroll 8
    for (Vf& sum : sums) sum = hn::Min(most, hn::Max(least, sum));
  }
#pragma GCC unroll 8
  for (size_t o = 0; o < pixels; ++o) hn::StoreU(sums[o], d, line.out + at + o * line.pixel);
}

template <size_t window, size_t stride, size_t pixels, bool inside>
void ComputeBlock(const DepthwiseLine& p, size_t pixel) {
  const size_t lanes = hn::Lanes(FloatTag());
  // The last vector may overlap the one before.
  for (size_t c = 0; c < p.channels; c += lanes) {
    ComputeVector<window, stride, pixels, inside>(p, pixel, std::min(c, p.channels - lanes));
  }
}

using BlockFn = void (*)(const DepthwiseLine&, size_t);
using BlockFns = std::array<BlockFn, kMostPixels>;  // by pixels - 1
template <size_t window, size_t stride, bool inside, size_t... pixels>
constexpr BlockFns BlocksOf(std::index_sequence<pixels...>) {
  return {&ComputeBlock<window, stride, pixels + 1, inside>...};
}

template <size_t window, size_t stride>
void ComputeLine(const DepthwiseLine& p) {
  constexpr auto kPixels = std::make_index_sequence<kMostPixels>();
  static constexpr BlockFns kInside = BlocksOf<window, stride, true>(kPixels);
  static constexpr BlockFns kAtEdge = BlocksOf<window, stride, false>(kPixels);
  // Blocks of about the same size.
  const size_t blocks = (p.pixels + kMostPixels - 1) / kMostPixels;
  for (size_t b = 0, pixel = 0; b < blocks; ++b) {
    const size_t end = p.pixels * (b + 1) / blocks;
    const bool inside = static_cast<int64_t>(pixel * stride) >= p.pad &&
                        static_cast<int64_t>((end - 1) * stride + window) <= p.width + p.pad;
    (inside ? kInside : kAtEdge)[end - pixel - 1](p, pixel);
    pixel = end;
  }
}

DepthwiseLineFn LoopsOf(int64_t window, int64_t stride) {
  if (stride == 1) {
    switch (window) {
      case 3:
        return &ComputeLine<3, 1>;
      case 5:
        return &ComputeLine<5, 1>;
      case 7:
        return &ComputeLine<7, 1>;
      case 9:
        return &ComputeLine<9, 1>;
      case 11:
        return &ComputeLine<11, 1>;
      case 13:
        return &ComputeLine<13, 1>;
      default:
        return nullptr;
    }
  }
  if (stride == 2 && window == 3) return &ComputeLine<3, 2>;
  if (stride == 2 && window == 5) return &ComputeLine<5, 2>;
  return nullptr;
}

}  // namespace depthwise_floats

DepthwiseFloatLoops DepthwiseFloatsOfTarget(int64_t window, int64_t stride) {
  return {depthwise_floats::LoopsOf(window, stride), hn::Lanes(FloatTag())};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(DepthwiseFloatsOfTarget);

DepthwiseFloatLoops FindDepthwiseFloatLoops(int64_t window, int64_t stride) {
  return HWY_DYNAMIC_DISPATCH(DepthwiseFloatsOfTarget)(window, stride);
}

}  // namespace tenon
#endif
