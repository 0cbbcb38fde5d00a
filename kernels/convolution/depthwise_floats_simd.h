// Sums of a depthwise convolution of floats.
#ifndef TENON_KERNELS_CONVOLUTION_DEPTHWISE_FLOATS_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_DEPTHWISE_FLOATS_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// A line of the result: out[x, c] = the sum over all rows r and the window's columns k of
// rows[r][x * stride + k - pad, c] times filters[r][k, c], without columns outside the image, then
// plus bias[c], plus addend[x, c], if any, and clamped at 0 and 6.
struct DepthwiseLine {
  const float* const* rows = nullptr;
  const float* const* filters = nullptr;
  size_t num_rows = 0;
  // Pixels of the image's lines; before and after them, padding is narrower than a window.
  int64_t width = 0, pad = 0;
  size_t pixels = 0;    // of the result
  size_t channels = 0;  // at least the loops' lanes
  // Floats from a pixel to the next one, of rows, and of filters, addend and out.
  size_t row_pixel = 0, pixel = 0;
  const float* bias = nullptr;
  const float* addend = nullptr;
  bool clamp_low = false, clamp_high = false;
  float* out = nullptr;
};
using DepthwiseLineFn = void (*)(const DepthwiseLine&);

struct DepthwiseFloatLoops {
  DepthwiseLineFn compute = nullptr;  // null for windows that there are no loops for
  size_t lanes = 0;
};
// `window` and `stride`: columns.
DepthwiseFloatLoops FindDepthwiseFloatLoops(int64_t window, int64_t stride);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_DEPTHWISE_FLOATS_SIMD_H_
