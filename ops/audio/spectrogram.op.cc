// AudioSpectrogram: magnitudes of the Fourier transforms of overlapping windows. Mfcc: its
// mel-frequency cepstral coefficients.
#include "kernels/audio/spectrogram.h"

#include <algorithm>

#include "kernels/audio/mfcc.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SpectrogramShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const SpectrogramWindows w, ReadSpectrogramWindows(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  const Shape& in = c.input(0);
  const int64_t samples = in.has_rank() ? in.dim(0) : -1;
  Shape out({in.has_rank() ? in.dim(1) : -1, samples < 0 ? -1 : w.count(samples), w.frequencies()});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status MfccShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const MfccSpec spec, ReadMfccSpec(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  out.set_dim(2, spec.coefficients);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration audio_spectrogram_op({
    .name = "AudioSpectrogram",
    .inputs = "input: float",
    .outputs = "spectrogram: float",
    .attrs = "window_size: int; stride: int; magnitude_squared: bool = false",
    .shape = SpectrogramShape,
    .reference = SpectrogramKernel,
});

const OpRegistration mfcc_op({
    .name = "Mfcc",
    .inputs = "spectrogram: float, sample_rate: int32",
    .outputs = "output: float",
    .attrs = "upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; "
             "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
    .shape = MfccShape,
    .reference = MfccKernel,
});

}  // namespace
}  // namespace tenon
