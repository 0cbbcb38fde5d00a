// The two passes of a resized image: along rows, which gives them the output's width, and between
// such rows. Products and sums are rounded one by one and in the order of the taps, so that the
// results have the same bits on each instruction set.
#ifndef TENON_KERNELS_IMAGE_RESIZE_SIMD_H_
#define TENON_KERNELS_IMAGE_RESIZE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// The input pixels of each output pixel of a row: taps first[o] to first[o + 1] are those of
// output pixel o.
struct ResizeRowTaps {
  size_t outputs;
  const int64_t* first;
  const int64_t* offset;  // in elements, from the start of the row
  const float* weight;
};

// Rows that ResizeLoops::along reads and writes are followed by as many floats, of any value.
inline constexpr size_t kResizePadding = 16;
// The rows that ResizeLoops::between takes at once, at most.
inline constexpr size_t kResizeRows = 4;

struct ResizeLoops {
  // out: [outputs, channels]
  void (*along)(const float* row, const ResizeRowTaps& taps, size_t channels, float* out);
  // out[i] = the sum over `count` rows of rows[r][i] * weights[r], i < n; with `add`, this sum
  // continues the one that is in out.
  void (*between)(const float* const* rows, const float* weights, size_t count, bool add, size_t n,
                  float* out);
};
ResizeLoops FindResizeLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_RESIZE_SIMD_H_
