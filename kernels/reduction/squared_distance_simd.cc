// The loops behind FindDistanceLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/squared_distance_simd.cc"
#include "kernels/reduction/squared_distance_simd.h"

#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

constexpr size_t kDistanceRows = 4, kDistanceVectors = 2;
// Of a sum with one accumulator: the rounding error of a long sum is that of a short one.
constexpr size_t kDistanceTerms = 256;

HWY_INLINE Vf AddSquare(Vf a, Vf b, Vf sum) {
  const Vf d = hn::Sub(a, b);
  return hn::MulAdd(d, d, sum);
}

template <size_t rows>
void DistanceTile(const DistanceBlock& p, size_t row, size_t column) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), width = kDistanceVectors * lanes;
  const float* const a = p.a + row * p.terms;
  const float* b = p.b + column * p.terms;
  Vf totals[rows][kDistanceVectors];
  for (size_t begin = 0; begin < p.terms; begin += kDistanceTerms) {
    Vf sums[rows][kDistanceVectors];
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; ++r) {
      for (size_t v = 0; v < kDistanceVectors; ++v) sums[r][v] = hn::Zero(d);
    }
    const size_t end = std::min(begin + kDistanceTerms, p.terms);
    for (size_t k = begin; k < end; ++k, b += width) {
      const Vf b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
#pragma GCC unroll 4
      for (size_t r = 0; r < rows; ++r) {
        const Vf x = hn::Set(d, a[r * p.terms + k]);
        sums[r][0] = AddSquare(x, b0, sums[r][0]);
        sums[r][1] = AddSquare(x, b1, sums[r][1]);
      }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; ++r) {
      for (size_t v = 0; v < kDistanceVectors; ++v) {
        totals[r][v] = begin == 0 ? sums[r][v] : hn::Add(totals[r][v], sums[r][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; ++r) {
    float* const out = p.out + (row + r) * p.out_row + column;
    for (size_t v = 0; v < kDistanceVectors && column + v * lanes < p.columns; ++v) {
      const size_t left = p.columns - column - v * lanes;
      if (left >= lanes) {
        hn::StoreU(totals[r][v], d, out + v * lanes);
      } else {
        StoreTail(totals[r][v], out + v * lanes, left);
      }
    }
  }
}

void AllDistances(const DistanceBlock& p) {
  const size_t width = kDistanceVectors * hn::Lanes(FloatTag());
  for (size_t column = 0; column < p.columns; column += width) {
    size_t row = 0;
    for (; row + kDistanceRows <= p.rows; row += kDistanceRows) {
      DistanceTile<kDistanceRows>(p, row, column);
    }
    for (; row < p.rows; ++row) DistanceTile<1>(p, row, column);
  }
}

float OneDistance(const float* a, const float* b, size_t terms) {
  const FloatTag d;
  float total = 0;
  for (size_t begin = 0; begin < terms;) {
    const size_t n = std::min(kDistanceTerms * hn::Lanes(d), terms - begin);
    Vf sum = hn::Zero(d);
    ForParts(n, [&](auto part, size_t i) HWY_ATTR {
      const Vf x = part.Load(a + begin + i), y = part.Load(b + begin + i);
      sum = AddSquare(part.Keep(x), part.Keep(y), sum);
    });
    total += Total(sum);
    begin += n;
  }
  return total;
}

DistanceLoops DistancesOfTarget() {
  return {&AllDistances, &OneDistance, kDistanceRows, kDistanceVectors * hn::Lanes(FloatTag())};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(DistancesOfTarget);

DistanceLoops FindDistanceLoops() { return HWY_DYNAMIC_DISPATCH(DistancesOfTarget)(); }

}  // namespace tenon
#endif
