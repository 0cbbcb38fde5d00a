// The loops behind FindRunningLogSum, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/running_log_sum_simd.cc"
#include "kernels/reduction/running_log_sum_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// log(e^a + e^b). A NaN counts as in the reference kernel, by the order of its comparisons.
HWY_INLINE Vf AddInLogs(Vf a, Vf b) {
  const Vf high = hn::IfThenElse(hn::Lt(a, b), b, a), low = hn::IfThenElse(hn::Lt(b, a), b, a);
  const Vf difference = hn::Sub(low, high);
  const Vf e = ExpOfNegative(difference);
  const Vf sum = KeepNaN(difference, hn::Add(high, Log1pUpToOne(e)));
  return hn::IfThenElse(hn::Eq(high, hn::Neg(Infinity())), high, sum);
}

// Several vectors side by side: each step waits for the one before.
template <size_t vectors, class Part>
HWY_INLINE void RunColumns(const RunningLogSum& s, Part part, const float* x, float* y,
                           float* sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  Vf sum[vectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) sum[v] = part.Load(sums + v * lanes);
  for (size_t k = 0; k < s.steps; ++k, x += s.row, y += s.row) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      const Vf before = sum[v];
      sum[v] = AddInLogs(before, part.Load(x + v * lanes));
      part.Store(s.exclusive ? before : sum[v], y + v * lanes);
    }
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) part.Store(sum[v], sums + v * lanes);
}

void RunLogSums(const RunningLogSum& s, const float* x, float* y, float* sums) {
  constexpr size_t kVectors = 4;
  const size_t lanes = hn::Lanes(FloatTag());
  size_t i = 0;
  for (; i + kVectors * lanes <= s.columns; i += kVectors * lanes) {
    RunColumns<kVectors>(s, WholePart(), x + i, y + i, sums + i);
  }
  ForParts(s.columns - i, [&](auto part, size_t at) HWY_ATTR {
    RunColumns<1>(s, part, x + i + at, y + i + at, sums + i + at);
  });
}

RunningLogSumFn GetRunningLogSum() { return &RunLogSums; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetRunningLogSum);

RunningLogSumFn FindRunningLogSum() { return HWY_DYNAMIC_DISPATCH(GetRunningLogSum)(); }

}  // namespace tenon
#endif
