// AudioSpectrogram: magnitudes of the Fourier transforms of overlapping windows. Mfcc: its
// mel-frequency cepstral coefficients.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/FFT>

#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 26;

struct Windows {
  int64_t size, stride, transform;

  int64_t frequencies() const { return 1 + transform / 2; }
  int64_t count(int64_t samples) const {
    return samples < size ? 0 : 1 + (samples - size) / stride;
  }
};

absl::StatusOr<Windows> WindowsOf(const AttrReader& attrs) {
  Windows w;
  TENON_ASSIGN_OR_RETURN(w.size, attrs.Int("window_size"));
  TENON_ASSIGN_OR_RETURN(w.stride, attrs.Int("stride"));
  if (w.size < 2 || w.size > kMaxWindow) {
    return InvalidArgument("window_size must be 2 to ", kMaxWindow, ", but is ", w.size);
  }
  if (w.stride < 1) return InvalidArgument("stride must be positive, but is ", w.stride);
  w.transform = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(w.size)));
  return w;
}

absl::Status SpectrogramShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Windows w, WindowsOf(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  const Shape& in = c.input(0);
  const int64_t samples = in.has_rank() ? in.dim(0) : -1;
  Shape out({in.has_rank() ? in.dim(1) : -1, samples < 0 ? -1 : w.count(samples), w.frequencies()});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Spectrogram(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Windows w, WindowsOf(p.attrs()));
  const int64_t channels = p.input_shape(0).dim(1), slices = p.output_shape(0).dim(1);
  const bool squared = p.attrs().Bool("magnitude_squared", false);
  std::vector<double> hann(static_cast<size_t>(w.size));
  for (size_t i = 0; i < hann.size(); ++i) {
    hann[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                   static_cast<double>(w.size));
  }
  return MakeKernel([=](RunContext& run) {
    const float* in = run.input<float>(0);
    float* out = run.output<float>(0);
    Eigen::FFT<double> fft;
    std::vector<double> padded(static_cast<size_t>(w.transform), 0);
    std::vector<std::complex<double>> spectrum;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t s = 0; s < slices; ++s) {
        for (size_t i = 0; i < hann.size(); ++i) {
          const int64_t sample = s * w.stride + static_cast<int64_t>(i);
          padded[i] = static_cast<double>(in[sample * channels + c]) * hann[i];
        }
        fft.fwd(spectrum, padded);
        for (int64_t k = 0; k < w.frequencies(); ++k) {
          const float power = static_cast<float>(std::norm(spectrum[static_cast<size_t>(k)]));
          *out++ = squared ? power : std::sqrt(power);
        }
      }
    }
    return absl::OkStatus();
  });
}

double MelOf(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

struct MfccSpec {
  double upper = 4000, lower = 20;
  int64_t bands = 40, coefficients = 13;
};

absl::StatusOr<MfccSpec> SpecOf(const AttrReader& attrs) {
  MfccSpec s;
  s.upper = static_cast<double>(attrs.Float("upper_frequency_limit", 4000));
  s.lower = static_cast<double>(attrs.Float("lower_frequency_limit", 20));
  s.bands = attrs.Int("filterbank_channel_count", 40);
  s.coefficients = attrs.Int("dct_coefficient_count", 13);
  if (s.bands < 1 || s.bands > (1 << 20)) {
    return InvalidArgument("filterbank_channel_count is ", s.bands);
  }
  if (s.coefficients < 1 || s.coefficients > s.bands) {
    return InvalidArgument("dct_coefficient_count must be 1 to ", s.bands, ", but is ",
                           s.coefficients);
  }
  if (!(s.lower >= 0) || !(s.upper > s.lower)) {
    return InvalidArgument("frequencies from ", s.lower, " to ", s.upper);
  }
  return s;
}

// Triangular bands, evenly spaced in mel: each frequency shares its amplitude between two.
class MelBands {
 public:
  static absl::StatusOr<MelBands> Make(const MfccSpec& spec, int64_t frequencies, int64_t rate) {
    if (rate <= 0) return InvalidArgument("sample_rate must be positive, but is ", rate);
    if (frequencies < 2) return InvalidArgument("a spectrogram of ", frequencies, " frequencies");
    MelBands m;
    m.bands_ = spec.bands;
    const double low = MelOf(spec.lower);
    const double step = (MelOf(spec.upper) - low) / static_cast<double>(spec.bands + 1);
    auto center = [&](int64_t band) { return low + step * static_cast<double>(band + 1); };
    const double hertz = 0.5 * static_cast<double>(rate) / static_cast<double>(frequencies - 1);
    m.first_ = static_cast<int64_t>(1.5 + spec.lower / hertz);
    m.last_ = static_cast<int64_t>(spec.upper / hertz);
    if (m.last_ >= frequencies) {
      return InvalidArgument("upper_frequency_limit ", spec.upper, " is above half of sample_rate ",
                             rate);
    }
    int64_t band = 0;
    for (int64_t i = m.first_; i <= m.last_; ++i) {
      const double mel = MelOf(static_cast<double>(i) * hertz);
      while (band < spec.bands && center(band) < mel) ++band;
      m.below_.push_back(band - 1);
      m.share_.push_back((center(band) - mel) / step);
    }
    return m;
  }

  void Apply(const float* powers, std::vector<double>& out) const {
    out.assign(static_cast<size_t>(bands_), 0);
    for (size_t k = 0; k < below_.size(); ++k) {
      const double amplitude =
          std::sqrt(static_cast<double>(powers[first_ + static_cast<int64_t>(k)]));
      const double share = amplitude * share_[k];
      if (below_[k] >= 0) out[static_cast<size_t>(below_[k])] += share;
      if (below_[k] + 1 < bands_) out[static_cast<size_t>(below_[k] + 1)] += amplitude - share;
    }
  }

 private:
  int64_t bands_ = 0, first_ = 0, last_ = 0;
  std::vector<int64_t> below_;  // the band at or below each frequency; -1: none
  std::vector<double> share_;   // of its amplitude that this band gets
};

absl::Status MfccShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const MfccSpec spec, SpecOf(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  out.set_dim(2, spec.coefficients);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Mfcc(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const MfccSpec spec, SpecOf(p.attrs()));
  const Shape in = p.input_shape(0);
  const int64_t slices = in.dim(0) * in.dim(1), frequencies = in.dim(2);
  const double scale = std::sqrt(2.0 / static_cast<double>(spec.bands));
  const double angle = std::numbers::pi / static_cast<double>(spec.bands);
  std::vector<double> cosines;
  for (int64_t i = 0; i < spec.coefficients; ++i) {
    for (int64_t j = 0; j < spec.bands; ++j) {
      cosines.push_back(scale *
                        std::cos(static_cast<double>(i) * angle * (static_cast<double>(j) + 0.5)));
    }
  }
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const MelBands mel,
                           MelBands::Make(spec, frequencies, *run.input<int32_t>(1)));
    constexpr double kFloor = 1e-12;
    std::vector<double> bands;
    float* out = run.output<float>(0);
    for (int64_t s = 0; s < slices; ++s) {
      mel.Apply(run.input<float>(0) + s * frequencies, bands);
      for (double& v : bands) v = std::log(std::max(v, kFloor));
      const double* cosine = cosines.data();
      for (int64_t i = 0; i < spec.coefficients; ++i) {
        double sum = 0;
        for (const double v : bands) sum += v * *cosine++;
        *out++ = static_cast<float>(sum);
      }
    }
    return absl::OkStatus();
  });
}

const OpRegistration audio_spectrogram_op({
    .name = "AudioSpectrogram",
    .inputs = "input: float",
    .outputs = "spectrogram: float",
    .attrs = "window_size: int; stride: int; magnitude_squared: bool = false",
    .shape = SpectrogramShape,
    .reference = Spectrogram,
});

const OpRegistration mfcc_op({
    .name = "Mfcc",
    .inputs = "spectrogram: float, sample_rate: int32",
    .outputs = "output: float",
    .attrs = "upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; "
             "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
    .shape = MfccShape,
    .reference = Mfcc,
});

}  // namespace
}  // namespace tenon
