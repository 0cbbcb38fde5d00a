// Sums of a convolution whose pixels have few numbers. A vector holds all output channels of
// adjacent pixels, as they lie in the output: vectors of one pixel's channels would stay half
// empty.
#ifndef TENON_KERNELS_CONVOLUTION_PIXEL_VECTORS_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_PIXEL_VECTORS_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// After a period of vectors, a pixel begins where a vector does.
inline constexpr size_t kMostPeriodVectors = 5;

// Adjacent terms whose numbers, for all pixels of a period, are in one vector of the row: it is
// loaded once, and its lanes are spread for each of them.
struct PixelTerms {
  size_t offset = 0;               // of the vector, floats
  const int32_t* lanes = nullptr;  // of each term: the first pixel's
  size_t terms = 0;
};

// out[i], i = pixel * channels + channel, is the sum of
//   rows[r][pixel * step + offset of t] * filter of (r, t, channel)
// over rows and terms. Then bias[channel] is added, if there is one, and negative results and those
// above 6 are replaced as told. Rows are readable for whole periods, and a vector beyond.
struct PixelVectors {
  const float* const* rows = nullptr;
  // For each row [terms][period][lanes]: the channels over and over.
  const float* const* filters = nullptr;
  size_t num_rows = 0;
  const PixelTerms* groups = nullptr;
  size_t num_groups = 0;
  size_t period = 0;       // vectors
  size_t period_step = 0;  // floats of a row from period to period
  // Of each lane of a period: its pixel's distance from the first one, floats.
  const int32_t* pixels = nullptr;
  const float* bias = nullptr;  // [period][lanes]
  bool clamp_low = false, clamp_high = false;
  float* out = nullptr;
  size_t floats = 0;
};

struct PixelVectorLoops {
  void (*compute)(const PixelVectors& p) = nullptr;
  size_t lanes = 0;
};
PixelVectorLoops FindPixelVectorLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_PIXEL_VECTORS_SIMD_H_
