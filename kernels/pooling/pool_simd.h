// Loops of pools with their workspace and of pooling gradients, one row of positions at a time,
// channels last.
#ifndef TENON_KERNELS_POOLING_POOL_SIMD_H_
#define TENON_KERNELS_POOLING_POOL_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// An element of the other side that a position belongs together with.
struct PoolTap {
  int64_t offset = 0;  // of its first channel, in elements, from where the row's taps begin
  int32_t index = 0;   // place in the window
  float weight = 0;
};

// Position i of a row has taps[begin[i]] to taps[begin[i + 1]], and `channels` elements in x or
// out. What stands on the other side begins at the row's taps. Fields that a loop does not name are
// not read.
struct PoolRow {
  const PoolTap* taps = nullptr;
  const uint32_t* begin = nullptr;
  size_t positions = 0;
  size_t channels = 0;
  const void* x = nullptr;
  const void* y = nullptr;
  const void* dy = nullptr;
  const uint8_t* places = nullptr;
  void* out = nullptr;
  uint8_t* out_places = nullptr;
};
using PoolLoop = void (*)(const PoolRow& row);

struct PoolLoops {
  // out (unless null) = the largest x at a tap, beginning with the lowest number, as MaxPool does:
  // a NaN never wins. out_places = the index of the tap with the largest x: the first of them, and
  // a NaN only where it comes first. Every position has a tap.
  PoolLoop maximum;
  // out = sum of dy at taps where `places` is the tap's index.
  PoolLoop route;
  // out = sum of dy at taps where y is within 1e-5 of x, which is at the position itself.
  PoolLoop route_ties;
  // out = sum of dy at taps * weight.
  PoolLoop average;
};
enum class PoolElement { kFloat, kBfloat16 };
PoolLoops FindPoolLoops(PoolElement element);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_SIMD_H_
