// Sums of squared differences, compiled for each instruction set.
#ifndef TENON_KERNELS_REDUCTION_SQUARED_DISTANCE_SIMD_H_
#define TENON_KERNELS_REDUCTION_SQUARED_DISTANCE_SIMD_H_

#include <cstddef>

namespace tenon {

// out[i * out_row + j] = the sum over k of (a[i * terms + k] - b[j, k])^2 for i < rows and
// j < columns. Element (j, k) of b is at b + (j / width) * terms * width + k * width + j % width,
// width being DistanceLoops::columns; b is filled up to a multiple of it.
struct DistanceBlock {
  const float* a = nullptr;
  const float* b = nullptr;
  size_t rows = 0, columns = 0, terms = 0;
  float* out = nullptr;
  size_t out_row = 0;
};

struct DistanceLoops {
  void (*all)(const DistanceBlock& block) = nullptr;
  float (*one)(const float* a, const float* b, size_t terms) = nullptr;
  size_t rows = 0, columns = 0;  // computed together
};
DistanceLoops FindDistanceLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_SQUARED_DISTANCE_SIMD_H_
