// Loops shared by the reference kernels of pooling gradients.
#ifndef TENON_KERNELS_POOLING_POOL_REFERENCE_H_
#define TENON_KERNELS_POOLING_POOL_REFERENCE_H_

#include <cstdint>
#include <type_traits>

#include "absl/types/span.h"
#include "kernels/interface/types.h"
#include "kernels/pooling/pool_geometry.h"

namespace tenon {

// Accumulators for gradients: small floats sum in float; integers wrap around.
template <typename T>
using PoolSum = std::conditional_t<kIsInt<T>, uint64_t, ComputeType<T>>;

// Calls f(image, position, taps) for every position of the table's side.
template <typename F>
void ForPoolPositions(const PoolGeometry& g, const TapTable& table, F f) {
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t row = 0; row < table.rows(); ++row) {
      table.ForRow(row,
                   [&](int64_t position, absl::Span<const Tap> taps) { f(n, position, taps); });
    }
  }
}

// The tap with the largest element: the first of them, and a NaN only if it comes first. `x` is the
// image's channel.
template <typename T>
const Tap& LargestTap(const T* x, int64_t step, absl::Span<const Tap> taps) {
  const Tap* best = &taps[0];
  for (const Tap& t : taps) {
    if (ToCompute(x[best->position * step]) < ToCompute(x[t.position * step])) best = &t;
  }
  return *best;
}

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_REFERENCE_H_
