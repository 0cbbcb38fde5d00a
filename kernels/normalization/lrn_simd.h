// Loops of local response normalization over one row (the channels of a pixel) in float.
#ifndef TENON_KERNELS_NORMALIZATION_LRN_SIMD_H_
#define TENON_KERNELS_NORMALIZATION_LRN_SIMD_H_

#include <cstddef>

namespace tenon {

// N[c] = bias + alpha * sum(x[k]^2, |k - c| <= radius).
struct LrnRow {
  const float* x = nullptr;
  const float* y = nullptr;  // gradient: the forward op's output
  const float* dy = nullptr;
  float* out = nullptr;      // may be x in the forward op, dy in the gradient
  float* scratch = nullptr;  // LrnScratch floats
  size_t n = 0, radius = 0;
  float bias = 0, alpha = 0, beta = 0;
};
inline size_t LrnScratch(size_t n, size_t radius) { return 2 * (n + 2 * radius); }
using LrnRowFn = void (*)(const LrnRow& row);

struct LrnLoops {
  LrnRowFn forward;  // out = x N^-beta
  // out[c] = dy[c] N[c]^-beta - 2 alpha beta x[c] sum(dy[k] y[k] / N[k], |k - c| <= radius)
  LrnRowFn gradient;
};
LrnLoops FindLrnLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_LRN_SIMD_H_
