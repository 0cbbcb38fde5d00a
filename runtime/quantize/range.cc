#include "runtime/quantize/range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tenon {
namespace {

constexpr float kSteps = 255;  // between 256 integers

// Squared error of clipping the numbers of one sign, by the bin at which they are clipped: sum of
// (v - cut)^2 = sum of v^2 - 2 cut (sum of v) + cut^2 count.
std::vector<double> ErrorBeyond(absl::Span<const int64_t> bins, double width) {
  std::vector<double> error(bins.size() + 1, 0.0);
  double count = 0, sum = 0, squares = 0;
  for (size_t i = bins.size(); i-- > 0;) {
    const auto n = static_cast<double>(bins[i]);
    const double v = (static_cast<double>(i) + 0.5) * width;
    count += n;
    sum += n * v;
    squares += n * v * v;
    const double cut = static_cast<double>(i) * width;
    error[i] = squares - 2 * cut * sum + cut * cut * count;
  }
  return error;
}

size_t UsedBins(absl::Span<const int64_t> bins) {
  size_t used = bins.size();
  while (used > 0 && bins[used - 1] == 0) --used;
  return used;
}

}  // namespace

void RangeCollector::Add(absl::Span<const float> values) {
  for (float v : values) {
    if (!std::isfinite(v)) {
      ++not_finite_;
      continue;
    }
    max_ = std::max(max_, v);
    min_ = std::min(min_, v);
  }
  count_ += static_cast<int64_t>(values.size());
  const float largest = std::max(max_, -min_);
  if (!(largest > 0)) {
    bins_[0][0] += static_cast<int64_t>(values.size());
    return;
  }
  if (width_ == 0) {  // only zeros so far, in the lowest bin
    width_ = std::max(largest / kBins * 1.0001f, std::numeric_limits<float>::min());
  }
  while (largest >= width_ * kBins) {
    for (Bins& bins : bins_) {
      for (size_t i = 0; i < kBins / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
      std::fill(bins.begin() + kBins / 2, bins.end(), 0);
    }
    width_ *= 2;
  }
  const float per_width = 1 / width_;
  for (float v : values) {
    if (!std::isfinite(v)) continue;
    const int bin = static_cast<int>(std::fabs(v) * per_width);
    ++bins_[v < 0][static_cast<size_t>(std::min(bin, kBins - 1))];
  }
}

ValueRange RangeCollector::CutAt(float magnitude) const {
  return {std::max(min_, -magnitude), std::min(max_, magnitude)};
}

ValueRange RangeCollector::Range(const RangeOptions& options) const {
  if (min_ == 0 && max_ == 0) return {};
  switch (options.method) {
    case RangeMethod::kPercentile:
      return CutAt(Percentile(options.percentile));
    case RangeMethod::kEntropy:
      return CutAt(Entropy());
    case RangeMethod::kError:
      return LeastError();
    case RangeMethod::kMinMax:
      break;
  }
  return {min_, max_};
}

float RangeCollector::Percentile(double percent) const {
  const double wanted = static_cast<double>(count_ - not_finite_) * percent / 100;
  int64_t below = 0;
  for (size_t i = 0; i < kBins; ++i) {
    below += Both(i);
    if (static_cast<double>(below) >= wanted) return width_ * static_cast<float>(i + 1);
  }
  return width_ * kBins;
}

// The clipping threshold at which the distribution of magnitudes and its quantized form differ
// least (Kullback-Leibler divergence). Magnitudes above the threshold count in the last bin; the
// bins below are grouped, one group per integer of that sign, and each group's count is spread over
// its nonempty bins.
float RangeCollector::Entropy() const {
  const size_t groups = min_ < 0 ? 128 : 256;
  constexpr size_t kStep = 16;
  size_t used = kBins;
  while (used > groups && Both(used - 1) == 0) --used;
  std::vector<int64_t> outside(used + 1, 0);  // counts from bin i on
  for (size_t i = used; i-- > 0;) outside[i] = outside[i + 1] + Both(i);
  // Bin 0 does not count: zeros (after a relu, half of all numbers) are exact at any threshold.
  const double total = static_cast<double>(outside[1]);
  double best = std::numeric_limits<double>::infinity();
  size_t cut = used;
  for (size_t bins = groups; bins <= used; bins += kStep) {
    double divergence = 0;
    for (size_t g = 0; g < groups; ++g) {
      const size_t first = std::max<size_t>(1, g * bins / groups), end = (g + 1) * bins / groups;
      double sum = 0;
      size_t filled = 0;
      for (size_t i = first; i < end; ++i) {
        sum += static_cast<double>(Both(i));
        filled += Both(i) > 0;
      }
      if (filled == 0) continue;
      const double spread = sum / static_cast<double>(filled);
      for (size_t i = first; i < end; ++i) {
        double p = static_cast<double>(Both(i));
        if (i + 1 == bins) p += static_cast<double>(outside[bins]);
        if (Both(i) > 0) divergence += p * std::log(p / spread);
      }
    }
    // The last bin is otherwise empty: the clipped magnitudes have no counterpart.
    if (Both(bins - 1) == 0 && outside[bins] > 0) {
      const double p = static_cast<double>(outside[bins]);
      divergence += p * std::log(p / 1e-4);
    }
    if (total > 0 && divergence / total < best) {
      best = divergence / total;
      cut = bins;
    }
  }
  return width_ * static_cast<float>(cut);
}

// The thresholds with the least sum of squared errors: scale^2 / 12 for each number in between
// (zeros are exact; all numbers in bin 0 count as zeros), plus the clipping error.
ValueRange RangeCollector::LeastError() const {
  constexpr size_t kTries = 128;  // thresholds of each sign
  const double width = width_;
  std::array<std::vector<size_t>, 2> cuts;
  std::array<std::vector<double>, 2> beyond;
  double inside = 0;
  for (size_t sign : {0, 1}) {
    beyond[sign] = ErrorBeyond(bins_[sign], width);
    const size_t used = UsedBins(bins_[sign]);
    for (size_t i = 0; i <= kTries; ++i) {
      const size_t cut = (used * i + kTries - 1) / kTries;
      if (cuts[sign].empty() || cuts[sign].back() != cut) cuts[sign].push_back(cut);
    }
    for (size_t i = 1; i < used; ++i) inside += static_cast<double>(bins_[sign][i]);
  }
  double best = std::numeric_limits<double>::infinity();
  ValueRange range;
  for (size_t low : cuts[1]) {
    for (size_t high : cuts[0]) {
      if (low + high == 0) continue;
      const double step = static_cast<double>(low + high) * width / kSteps;
      const double error = inside * step * step / 12 + beyond[1][low] + beyond[0][high];
      if (error >= best) continue;
      best = error;
      range = {-static_cast<float>(static_cast<double>(low) * width),
               static_cast<float>(static_cast<double>(high) * width)};
    }
  }
  return {std::max(range.low, min_), std::min(range.high, max_)};
}

}  // namespace tenon
