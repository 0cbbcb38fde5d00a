// The loops behind FindFewOutputsLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/few_outputs_simd.cc"
#include "kernels/convolution/few_outputs_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Sums stay in registers: pixels x outputs of them, plus the terms of each output's filter and
// those of one pixel.
constexpr size_t kMostOutputs = 4, kMostPixels = 8;
constexpr size_t PixelsOfTile(size_t outputs) {
  constexpr size_t kSums = HWY_TARGET <= HWY_AVX3 ? 24 : 12;
  return std::min(kMostPixels, kSums / outputs);
}

template <size_t pixels, size_t outputs>
using DotSums = Vf[pixels][outputs];

// `load` gets the terms at an address.
template <size_t pixels, size_t outputs, class Load>
HWY_INLINE void AddVector(const FewOutputs& f, const float* image, const float* filter, Load load,
                          DotSums<pixels, outputs>& sums) {
  Vf weights[outputs];
#pragma GCC unroll 4
  for (size_t o = 0; o < outputs; ++o) weights[o] = load(filter + o * f.filter_step);
#pragma GCC unroll 8
  for (size_t p = 0; p < pixels; ++p) {
    const Vf x = load(image + p * f.image_step);
#pragma GCC unroll 4
    for (size_t o = 0; o < outputs; ++o) sums[p][o] = hn::MulAdd(x, weights[o], sums[p][o]);
  }
}

HWY_INLINE float Finished(const FewOutputs& f, float sum, size_t output, size_t at) {
  if (f.bias != nullptr) sum += f.bias[output];
  if (f.addend != nullptr) sum += f.addend[at];
  // NaN stays.
  if (f.clamp_low && sum < 0) sum = 0;
  if (f.clamp_high && sum > 6) sum = 6;
  return sum;
}

template <size_t pixels, size_t outputs>
void ComputeDots(const FewOutputs& f, size_t pixel, size_t output) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  DotSums<pixels, outputs> sums;
  float totals[pixels][outputs] = {};
  const auto clear = [&]() HWY_ATTR {
#pragma GCC unroll 8
    for (auto& row : sums) {
#pragma GCC unroll 4
      for (Vf& sum : row) sum = hn::Zero(d);
    }
  };
  clear();
  for (size_t i = 0; i < f.num_runs; ++i) {
    const WindowRun& run = f.runs[i];
    const float* HWY_RESTRICT image = f.image + run.image + pixel * f.image_step;
    const float* HWY_RESTRICT filter = f.filter + run.filter + output * f.filter_step;
    size_t left = run.length;
    for (; left >= lanes; left -= lanes, image += lanes, filter += lanes) {
      AddVector<pixels, outputs>(
          f, image, filter, [d](const float* at) HWY_ATTR { return hn::LoadU(d, at); }, sums);
    }
    if (left > 0) {
      AddVector<pixels, outputs>(
          f, image, filter, [left](const float* at) HWY_ATTR { return LoadTail(at, left); }, sums);
    }
    if (!run.ends_part) continue;
    for (size_t p = 0; p < pixels; ++p) {
      for (size_t o = 0; o < outputs; ++o) {
        totals[p][o] += Total(sums[p][o]);
      }
    }
    clear();
  }
  for (size_t p = 0; p < pixels; ++p) {
    const size_t at = (pixel + p) * f.outputs + output;
    for (size_t o = 0; o < outputs; ++o) {
      f.out[at + o] = Finished(f, totals[p][o], output + o, at + o);
    }
  }
}

using DotsFn = void (*)(const FewOutputs&, size_t, size_t);
template <size_t outputs, size_t... pixels>
constexpr std::array<DotsFn, kMostPixels> DotsOfOutputs(std::index_sequence<pixels...>) {
  return {(pixels < PixelsOfTile(outputs)
               ? &ComputeDots<std::min(pixels + 1, PixelsOfTile(outputs)), outputs>
               : nullptr)...};
}

void ComputeFewOutputs(const FewOutputs& f) {
  constexpr auto kPixels = std::make_index_sequence<kMostPixels>();
  static constexpr std::array<DotsFn, kMostPixels> kDots[] = {
      DotsOfOutputs<1>(kPixels), DotsOfOutputs<2>(kPixels), DotsOfOutputs<3>(kPixels),
      DotsOfOutputs<4>(kPixels)};
  const size_t groups = (f.outputs + kMostOutputs - 1) / kMostOutputs;
  for (size_t output = 0, g = 0; g < groups; ++g) {
    const size_t outputs = (f.outputs - output + groups - g - 1) / (groups - g);
    const size_t most = PixelsOfTile(outputs);
    for (size_t pixel = 0; pixel < f.pixels;) {
      const size_t pixels = std::min(most, f.pixels - pixel);
      kDots[outputs - 1][pixels - 1](f, pixel, output);
      pixel += pixels;
    }
    output += outputs;
  }
}

FewOutputsLoops FewOutputsOfTarget() { return {&ComputeFewOutputs, hn::Lanes(FloatTag())}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(FewOutputsOfTarget);

FewOutputsLoops FindFewOutputsLoops() { return HWY_DYNAMIC_DISPATCH(FewOutputsOfTarget)(); }

}  // namespace tenon
#endif
