#include "kernels/audio/spectrogram.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "env/status.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 26;

}  // namespace

absl::StatusOr<SpectrogramWindows> ReadSpectrogramWindows(const AttrReader& attrs) {
  SpectrogramWindows w;
  TENON_ASSIGN_OR_RETURN(w.size, attrs.Int("window_size"));
  TENON_ASSIGN_OR_RETURN(w.stride, attrs.Int("stride"));
  if (w.size < 2 || w.size > kMaxWindow) {
    return InvalidArgument("window_size must be 2 to ", kMaxWindow, ", but is ", w.size);
  }
  if (w.stride < 1) return InvalidArgument("stride must be positive, but is ", w.stride);
  w.transform = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(w.size)));
  return w;
}

absl::StatusOr<std::unique_ptr<Kernel>> SpectrogramKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const SpectrogramWindows w, ReadSpectrogramWindows(p.attrs()));
  const int64_t channels = p.input_shape(0).dim(1), slices = p.output_shape(0).dim(1);
  const bool squared = p.attrs().Bool("magnitude_squared", false);
  std::vector<double> hann(static_cast<size_t>(w.size));
  for (size_t i = 0; i < hann.size(); ++i) {
    hann[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                   static_cast<double>(w.size));
  }
  const int threads = p.services().threads;
  const int64_t grain = ParallelGrain(6 * static_cast<double>(w.transform));
  return MakeKernel([=](RunContext& run) {
    const auto transform = [&](int64_t begin, int64_t end) {
      float* out = run.output<float>(0) + begin * w.frequencies();
      Eigen::FFT<double> fft;
      std::vector<double> padded(static_cast<size_t>(w.transform), 0);
      std::vector<std::complex<double>> spectrum;
      for (int64_t window = begin; window < end; ++window) {
        const float* const in =
            run.input<float>(0) + window % slices * w.stride * channels + window / slices;
        for (size_t i = 0; i < hann.size(); ++i) {
          padded[i] = static_cast<double>(in[static_cast<int64_t>(i) * channels]) * hann[i];
        }
        fft.fwd(spectrum, padded);
        for (int64_t k = 0; k < w.frequencies(); ++k) {
          const float power = static_cast<float>(std::norm(spectrum[static_cast<size_t>(k)]));
          *out++ = squared ? power : std::sqrt(power);
        }
      }
    };
    ParallelFor(threads, channels * slices, grain, transform);
    return absl::OkStatus();
  });
}

}  // namespace tenon
