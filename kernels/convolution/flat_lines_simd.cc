// The loops behind FindFlatLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/flat_lines_simd.cc"
#include "kernels/convolution/flat_lines_simd.h"

#include <array>
#include <numeric>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace flat_lines {

// Sums that stay in registers beside the weights of a tap.
constexpr size_t kSums = HWY_TARGET <= HWY_AVX3 ? 20 : 12;

// `blocks` times `phases` vectors of results from float `at` on. `left`: how many floats of the
// last ones are stored.
template <size_t phases, size_t blocks, bool whole>
void ComputeFlatBlocks(const FlatLine line, size_t at, size_t left) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  Vf sums[blocks][phases];
#pragma GCC unroll 20
  for (auto& block : sums) {
#pragma GCC unroll 8
    for (Vf& sum : block) sum = hn::Zero(d);
  }
  for (size_t r = 0; r < line.num_rows; ++r) {
    const float* HWY_RESTRICT row = line.rows[r] + at;
    const float* HWY_RESTRICT weights = line.weights[r];
    for (size_t k = 0; k < line.taps; ++k, row += line.tap_step, weights += phases * lanes) {
      Vf w[phases];
#pragma GCC unroll 8
      for (size_t p = 0; p < phases; ++p) w[p] = hn::LoadU(d, weights + p * lanes);
#pragma GCC unroll 20
      for (size_t b = 0; b < blocks; ++b) {
#pragma GCC unroll 8
        for (size_t p = 0; p < phases; ++p) {
          const Vf x = hn::LoadU(d, row + (b * phases + p) * lanes);
          sums[b][p] = hn::MulAdd(x, w[p], sums[b][p]);
        }
      }
    }
  }
#pragma GCC unroll 20
  for (size_t b = 0; b < blocks; ++b) {
#pragma GCC unroll 8
    for (size_t p = 0; p < phases; ++p) {
      const size_t i = (b * phases + p) * lanes;
      if (whole || i + lanes <= left) {
        hn::StoreU(sums[b][p], d, line.out + at + i);
      } else if (i < left) {
        StoreTail(sums[b][p], line.out + at + i, left - i);
      }
    }
  }
}

using FlatEndFn = void (*)(FlatLine line, size_t at, size_t left);

// By the number of blocks, from 1 on.
template <size_t phases, size_t... blocks>
constexpr std::array<FlatEndFn, sizeof...(blocks)> FlatEnds(std::index_sequence<blocks...>) {
  return {{&ComputeFlatBlocks<phases, blocks + 1, false>...}};
}

template <size_t phases>
void ComputeFlatLine(const FlatLine& line) {
  constexpr size_t kBlocks = kSums / phases;
  static constexpr auto kEnds = FlatEnds<phases>(std::make_index_sequence<kBlocks>());
  const size_t block = phases * hn::Lanes(FloatTag());
  size_t at = 0;
  for (; at + kBlocks * block <= line.floats; at += kBlocks * block) {
    ComputeFlatBlocks<phases, kBlocks, true>(line, at, 0);
  }
  const size_t left = line.floats - at;
  if (left > 0) kEnds[(left + block - 1) / block - 1](line, at, left);
}

FlatLineFn OfPhases(size_t phases) {
  switch (phases) {
    case 1:
      return &ComputeFlatLine<1>;
    case 3:
      return &ComputeFlatLine<3>;
    case 5:
      return &ComputeFlatLine<5>;
    case 7:
      return &ComputeFlatLine<7>;
    default:
      return nullptr;
  }
}

}  // namespace flat_lines

FlatLoops FlatLoopsOfTarget(size_t pixel) {
  const size_t lanes = hn::Lanes(FloatTag()), phases = pixel / std::gcd(pixel, lanes);
  return {flat_lines::OfPhases(phases), lanes, phases};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(FlatLoopsOfTarget);

FlatLoops FindFlatLoops(size_t pixel) { return HWY_DYNAMIC_DISPATCH(FlatLoopsOfTarget)(pixel); }

}  // namespace tenon
#endif
