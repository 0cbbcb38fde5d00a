// Loops over colors of float images with channels last. Each rounds as kernels/image/color.cc does.
#ifndef TENON_KERNELS_IMAGE_COLOR_SIMD_H_
#define TENON_KERNELS_IMAGE_COLOR_SIMD_H_

#include <cstddef>

namespace tenon {

enum class ColorChange { kToHsv, kToRgb, kHue, kSaturation };

// in, out: [pixels, 3], which may be the same; amount: what is added to the hue, or multiplies the
// saturation.
using ColorLoop = void (*)(const float* in, float amount, size_t pixels, float* out);
ColorLoop FindColorLoop(ColorChange change);

// The channels of consecutive elements repeat: element i has that of element i % period.
struct ContrastLoops {
  // sums[i % period] += x[i]
  void (*add)(const float* x, size_t n, size_t period, double* sums);
  // y[i] = (x[i] - mean[i % period]) * factor + mean[i % period]; x and y may be the same.
  void (*scale)(const float* x, size_t n, size_t period, const float* mean, float factor, float* y);
};
ContrastLoops FindContrastLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_COLOR_SIMD_H_
