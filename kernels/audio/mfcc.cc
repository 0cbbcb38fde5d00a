#include "kernels/audio/mfcc.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "env/status.h"

namespace tenon {
namespace {

double MelOf(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// Triangular bands, evenly spaced in mel: each frequency splits its amplitude between two bands.
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
  std::vector<double> share_;   // the fraction of its amplitude that this band gets
};

}  // namespace

absl::StatusOr<MfccSpec> ReadMfccSpec(const AttrReader& attrs) {
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

absl::StatusOr<std::unique_ptr<Kernel>> MfccKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const MfccSpec spec, ReadMfccSpec(p.attrs()));
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

}  // namespace tenon
