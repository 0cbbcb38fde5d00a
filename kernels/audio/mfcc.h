// Mel-frequency cepstral coefficients of a spectrogram.
#ifndef TENON_KERNELS_AUDIO_MFCC_H_
#define TENON_KERNELS_AUDIO_MFCC_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Bands in hertz, and the number of coefficients to keep.
struct MfccSpec {
  double upper = 4000, lower = 20;
  int64_t bands = 40, coefficients = 13;
};

// Reads the attributes. InvalidArgument if one is out of range.
absl::StatusOr<MfccSpec> ReadMfccSpec(const AttrReader& attrs);

// Float [channels, windows, frequencies] of squared magnitudes to float [channels, windows,
// coefficients]; input 1 is the sample rate. InvalidArgument if that is below twice
// upper_frequency_limit.
absl::StatusOr<std::unique_ptr<Kernel>> MfccKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_AUDIO_MFCC_H_
