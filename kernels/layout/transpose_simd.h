// Transposes 2-D planes of 4-byte elements, and those of 2, 3 or 4 columns or rows.
#ifndef TENON_KERNELS_LAYOUT_TRANSPOSE_SIMD_H_
#define TENON_KERNELS_LAYOUT_TRANSPOSE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// to[c * to_stride + r] = from[r * from_stride + c] for r in [0, rows), c in [0, columns).
using TransposeFn = void (*)(const uint32_t* from, int64_t from_stride, uint32_t* to,
                             int64_t to_stride, int64_t rows, int64_t columns);
TransposeFn FindTranspose();

// Of n pixels with `channels` elements each, side by side in one operand and `plane` elements apart
// in the other.
using ChannelsFn = void (*)(const void* from, size_t channels, size_t plane, size_t n, void* to);
struct ChannelLoops {
  ChannelsFn split = nullptr;  // pixels to planes
  ChannelsFn join = nullptr;   // planes to pixels
};
inline constexpr int64_t kMostChannels = 4;  // at least 2
// For elements of 1, 2 or 4 bytes; null for others.
ChannelLoops FindChannelLoops(size_t bytes);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_TRANSPOSE_SIMD_H_
