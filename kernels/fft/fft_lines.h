// Discrete Fourier transforms of several lines of floats at once: each vector lane holds one line,
// so that every butterfly is vector code without shuffles, whatever the radix.
#ifndef TENON_KERNELS_FFT_FFT_LINES_H_
#define TENON_KERNELS_FFT_FFT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

// The tables of transforms of one length, in Stockham's order: stage after stage reads one buffer
// and writes another, and the result is in its natural order.
struct FftTables {
  struct Stage {
    size_t radix = 0;
    size_t span = 0;    // butterflies of different twiddle factors
    size_t stride = 0;  // butterflies that share them
    // For each of `span`, for each of radix - 1 factors: real and imaginary part.
    std::vector<float> twiddles;
    // For radices without code of their own: exp(-2 pi i k / radix).
    std::vector<float> roots;
  };
  size_t points = 0;
  std::vector<Stage> stages;
  // exp(-pi i k / points) for k = 0 … points, of real transforms of 2 * points.
  std::vector<float> half_turns;
};

// Whether n is a product of factors for which there are stages.
bool HasFftStages(int64_t n);
FftTables MakeFftTables(int64_t points, bool real);

// Buffers hold points x {real, imaginary} x FftLanes() floats.
struct FftLines {
  size_t lanes;
  // Transforms `x` forward; uses `y`. Returns the one of them that has the result.
  float* (*transform)(const FftTables& tables, float* x, float* y);
  // From the transform of z[k] = x[2k] + i x[2k+1] to the points + 1 values of x's own spectrum.
  void (*split_real)(const FftTables& tables, const float* z, float* spectrum);
  // From points + 1 values of a spectrum to what, transformed with real and imaginary parts
  // swapped, gives the real signal times 2 * points.
  void (*join_real)(const FftTables& tables, const float* spectrum, float* z);
};
FftLines FindFftLines();

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_FFT_LINES_H_
