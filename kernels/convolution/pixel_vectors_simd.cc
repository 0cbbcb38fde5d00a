// The loops behind FindPixelVectorLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/pixel_vectors_simd.cc"
#include "kernels/convolution/pixel_vectors_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Sums stay in registers, beside a vector of the row for each period and the places of lanes.
constexpr size_t kBlockVectors = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
constexpr size_t kMostPeriods = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
constexpr size_t PeriodsOfBlock(size_t period) {
  return std::clamp<size_t>(kBlockVectors / period, 1, kMostPeriods);
}

template <size_t period, size_t periods>
void ComputePixelBlock(const PixelVectors& p, size_t from, float* out) {
  const FloatTag d;
  const IntTag di;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<IntTag> places[period];
  Vf sums[periods][period];
#pragma GCC unroll 5
  for (size_t v = 0; v < period; ++v) {
    places[v] = hn::LoadU(di, p.pixels + v * lanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < periods; ++i) sums[i][v] = hn::Zero(d);
  }
  for (size_t r = 0; r < p.num_rows; ++r) {
    const float* HWY_RESTRICT filter = p.filters[r];
    const float* HWY_RESTRICT row = p.rows[r] + from;
    for (size_t g = 0; g < p.num_groups; ++g) {
      const PixelTerms& group = p.groups[g];
      Vf pixels[periods];
#pragma GCC unroll 8
      for (size_t i = 0; i < periods; ++i) {
        pixels[i] = hn::LoadU(d, row + group.offset + i * p.period_step);
      }
      for (size_t t = 0; t < group.terms; ++t, filter += period * lanes) {
        const auto lane = hn::Set(di, group.lanes[t]);
#pragma GCC unroll 5
        for (size_t v = 0; v < period; ++v) {
          const Vf w = hn::LoadU(d, filter + v * lanes);
          const auto place = hn::IndicesFromVec(d, hn::Add(places[v], lane));
#pragma GCC unroll 8
          for (size_t i = 0; i < periods; ++i) {
            sums[i][v] = hn::MulAdd(hn::TableLookupLanes(pixels[i], place), w, sums[i][v]);
          }
        }
      }
    }
  }
#pragma GCC unroll 5
  for (size_t v = 0; v < period; ++v) {
    const Vf bias = p.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, p.bias + v * lanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < periods; ++i) {
      Vf sum = sums[i][v];
      if (p.bias != nullptr) sum = hn::Add(sum, bias);
      // NaN stays.
      if (p.clamp_low) sum = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);
      const Vf six = hn::Set(d, 6.0f);
      if (p.clamp_high) sum = hn::IfThenElse(hn::Lt(six, sum), six, sum);
      hn::StoreU(sum, d, out + (i * period + v) * lanes);
    }
  }
}

using PixelBlockFn = void (*)(const PixelVectors&, size_t, float*);
using PixelBlockFns = std::array<PixelBlockFn, kMostPeriods>;  // by periods - 1
template <size_t period, size_t... periods>
constexpr PixelBlockFns BlocksOfPeriod(std::index_sequence<periods...>) {
  return {&ComputePixelBlock<period, std::min(periods + 1, PeriodsOfBlock(period))>...};
}

void ComputePixelVectors(const PixelVectors& p) {
  constexpr auto kPeriods = std::make_index_sequence<kMostPeriods>();
  static constexpr PixelBlockFns kBlocks[kMostPeriodVectors] = {
      BlocksOfPeriod<1>(kPeriods), BlocksOfPeriod<2>(kPeriods), BlocksOfPeriod<3>(kPeriods),
      BlocksOfPeriod<4>(kPeriods), BlocksOfPeriod<5>(kPeriods)};
  const size_t period = p.period * hn::Lanes(FloatTag());
  const size_t periods = (p.floats + period - 1) / period;
  const size_t most = PeriodsOfBlock(p.period), blocks = (periods + most - 1) / most;
  HWY_ALIGN float whole[(kBlockVectors + kMostPeriodVectors) * hn::MaxLanes(FloatTag())];
  for (size_t b = 0, begin = 0; b < blocks; ++b) {
    const size_t end = periods * (b + 1) / blocks;
    const size_t floats = std::min(end * period, p.floats) - begin * period;
    float* const out = p.out + begin * period;
    const bool fits = floats == (end - begin) * period;
    kBlocks[p.period - 1][end - begin - 1](p, begin * p.period_step, fits ? out : whole);
    if (!fits) std::copy_n(whole, floats, out);
    begin = end;
  }
}

PixelVectorLoops PixelVectorsOfTarget() { return {&ComputePixelVectors, hn::Lanes(FloatTag())}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(PixelVectorsOfTarget);

PixelVectorLoops FindPixelVectorLoops() { return HWY_DYNAMIC_DISPATCH(PixelVectorsOfTarget)(); }

}  // namespace tenon
#endif
