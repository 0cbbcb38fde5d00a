// Sums of a depthwise convolution of few channels, over lines whose pixels follow each other.
#ifndef TENON_KERNELS_CONVOLUTION_FLAT_LINES_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_FLAT_LINES_SIMD_H_

#include <cstddef>

namespace tenon {

// A line of `floats` results, pixel by pixel: out[i] = the sum over all rows r and taps k of
// rows[r][i + k * tap_step] * weight(r, k, i). The weights of a row are those of all taps; a tap
// has `phases` vectors, which repeat along the line.
struct FlatLine {
  const float* const* rows = nullptr;
  const float* const* weights = nullptr;
  size_t num_rows = 0, taps = 0, tap_step = 0;
  size_t floats = 0;
  // Rows may be read for a whole number of `phases` vectors.
  float* out = nullptr;
};
using FlatLineFn = void (*)(const FlatLine&);

struct FlatLoops {
  FlatLineFn compute = nullptr;  // null for phases that there are no loops for
  size_t lanes = 0, phases = 0;
};
// For pixels of so many floats: after `phases` vectors, a pixel begins at the first lane again.
FlatLoops FindFlatLoops(size_t pixel);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_FLAT_LINES_SIMD_H_
