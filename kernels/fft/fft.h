// Discrete Fourier transforms over some dimensions of a tensor, mostly the last. The reference
// kernels compute in double precision; the vector kernels in the input's.
#ifndef TENON_KERNELS_FFT_FFT_H_
#define TENON_KERNELS_FFT_FFT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"

namespace tenon {

enum class FftDirection { kForward, kInverse };

// InvalidArgument unless Tcomplex is the complex dtype of Treal.
absl::Status CheckFftTypes(const AttrReader& attrs);

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

// The same over any different axes; the signal is cut or padded to the output's size, or `lengths`.
// Of real signals, the last of `axes`, which must not be empty, has half a spectrum.
absl::StatusOr<std::unique_ptr<Kernel>> FftOver(PrepareContext& p, const std::vector<int>& axes,
                                                FftDirection direction);
absl::StatusOr<std::unique_ptr<Kernel>> RealFftOver(PrepareContext& p, const std::vector<int>& axes,
                                                    const std::vector<int64_t>& lengths);
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftOver(PrepareContext& p,
                                                           const std::vector<int>& axes);

// The same as vector code, unless there are no elements, or very long lines.
absl::StatusOr<std::unique_ptr<Kernel>> FftVector(PrepareContext& p, int dims,
                                                  FftDirection direction);
absl::StatusOr<std::unique_ptr<Kernel>> RealFftVector(PrepareContext& p, int dims);
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftVector(PrepareContext& p, int dims);

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
template <int kDims, FftDirection kDirection>
absl::StatusOr<std::unique_ptr<Kernel>> FftVector(PrepareContext& p) {
  return FftVector(p, kDims, kDirection);
}
template <int kDims>
absl::StatusOr<std::unique_ptr<Kernel>> RealFftVectorIfPossible(PrepareContext& p) {
  auto kernel = RealFftVector(p, kDims);
  return absl::IsUnimplemented(kernel.status()) ? RealFft(p, kDims) : std::move(kernel);
}
template <int kDims>
absl::StatusOr<std::unique_ptr<Kernel>> RealFftVector(PrepareContext& p) {
  return p.value(1) == nullptr ? PrepareLate(p, RealFftVectorIfPossible<kDims>, {1})
                               : RealFftVector(p, kDims);
}
template <int kDims>
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftVectorIfPossible(PrepareContext& p) {
  auto kernel = InverseRealFftVector(p, kDims);
  return absl::IsUnimplemented(kernel.status()) ? InverseRealFft(p, kDims) : std::move(kernel);
}
template <int kDims>
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftVector(PrepareContext& p) {
  return p.value(1) == nullptr ? PrepareLate(p, InverseRealFftVectorIfPossible<kDims>, {1})
                               : InverseRealFftVector(p, kDims);
}

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_FFT_H_
