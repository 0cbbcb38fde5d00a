// Loops of pools with their workspace and of pooling gradients, one row of positions at a time,
// channels last.
#ifndef TENON_KERNELS_POOLING_POOL_SIMD_H_
#define TENON_KERNELS_POOLING_POOL_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// An element of the other side that corresponds to a position.
struct PoolTap {
  int64_t offset = 0;  // of its first channel, in elements, relative to the start of the row's taps
  int32_t index = 0;   // position in the window
  float weight = 0;
};

// Position i of a row has taps[begin[i]] to taps[begin[i + 1]], and `channels` elements in x or
// out. Elements of the other side are relative to the row's taps. A loop reads only the fields that
// it names.
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
  // out = the largest x at a tap, starting from the lowest number: a NaN never wins.
  PoolLoop largest;
  // out = sum of x at taps, times the first tap's weight. Every position has a tap.
  PoolLoop mean;
  // out (unless null) = the largest x at a tap, starting from the lowest number, as in MaxPool: a
  // NaN never wins. out_places = the index of the tap with the largest x: the first of them, and a
  // NaN only if it comes first. Every position has a tap.
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
