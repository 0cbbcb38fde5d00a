// Magnitudes of the Fourier transforms of overlapping windows.
#ifndef TENON_KERNELS_AUDIO_SPECTROGRAM_H_
#define TENON_KERNELS_AUDIO_SPECTROGRAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Sizes in samples; the transform is the next power of two.
struct SpectrogramWindows {
  int64_t size, stride, transform;

  int64_t frequencies() const { return 1 + transform / 2; }
  int64_t count(int64_t samples) const {
    return samples < size ? 0 : 1 + (samples - size) / stride;
  }
};

// Reads window_size and stride. InvalidArgument if one is out of range.
absl::StatusOr<SpectrogramWindows> ReadSpectrogramWindows(const AttrReader& attrs);

// Float [samples, channels] to float [channels, windows, frequencies]: magnitudes, or their
// squares with magnitude_squared. Computed in double.
absl::StatusOr<std::unique_ptr<Kernel>> SpectrogramKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_AUDIO_SPECTROGRAM_H_
