// Discrete Fourier transforms over the last dimensions of a tensor, computed in double precision.
#ifndef TENON_KERNELS_FFT_FFT_H_
#define TENON_KERNELS_FFT_FFT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"

namespace tenon {

enum class FftDirection { kForward, kInverse };

// The value of an fft_length input: the real signal's size in the last `dims` dimensions.
// InvalidArgument if it has another size or is negative.
absl::StatusOr<std::vector<int64_t>> FftLengths(const Tensor& t, int dims);

// complex to complex, with the same shape; the inverse scales by 1/n.
absl::StatusOr<std::unique_ptr<Kernel>> Fft(PrepareContext& p, int dims, FftDirection direction);

// float or double to the non-redundant half of the spectrum in the last dimension. Input 1 is
// fft_length and must be known; a shorter signal is padded with 0.
absl::StatusOr<std::unique_ptr<Kernel>> RealFft(PrepareContext& p, int dims);

// The inverse of RealFft.
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFft(PrepareContext& p, int dims);

// Kernel factories; a length that is not known in Prepare is read at Run.
template <int kDims, FftDirection kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> Fft(PrepareContext& p) {
  return Fft(p, kDims, kDirection);
}
template <int kDims>
absl::StatusOr<std::unique_ptr<Kernel>> RealFft(PrepareContext& p) {
  return p.value(1) == nullptr ? PrepareLate(p, RealFft<kDims>, {1}) : RealFft(p, kDims);
}
template <int kDims>
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFft(PrepareContext& p) {
  return p.value(1) == nullptr ? PrepareLate(p, InverseRealFft<kDims>, {1})
                               : InverseRealFft(p, kDims);
}

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_FFT_H_
