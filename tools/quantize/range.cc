#include "tools/quantize/range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tenon {

void RangeCollector::Add(absl::Span<const float> values) {
  float largest = largest_;
  for (float v : values) {
    if (!std::isfinite(v)) {
      ++not_finite_;
      continue;
    }
    largest = std::max(largest, std::fabs(v));
    min_ = std::min(min_, v);
  }
  count_ += static_cast<int64_t>(values.size());
  if (!(largest > 0)) {
    bins_[0] += static_cast<int64_t>(values.size());
    return;
  }
  largest_ = largest;
  if (width_ == 0) {  // what came before were zeros, in the lowest bin
    width_ = std::max(largest / kBins * 1.0001f, std::numeric_limits<float>::min());
  }
  while (largest_ >= width_ * kBins) {
    for (size_t i = 0; i < kBins / 2; ++i) bins_[i] = bins_[2 * i] + bins_[2 * i + 1];
    std::fill(bins_.begin() + kBins / 2, bins_.end(), 0);
    width_ *= 2;
  }
  const float per_width = 1 / width_;
  for (float v : values) {
    if (!std::isfinite(v)) continue;
    const int bin = static_cast<int>(std::fabs(v) * per_width);
    ++bins_[static_cast<size_t>(std::min(bin, kBins - 1))];
  }
}

float RangeCollector::Top(const RangeOptions& options, int levels) const {
  if (largest_ == 0) return 0;
  switch (options.method) {
    case RangeMethod::kPercentile:
      return Percentile(options.percentile);
    case RangeMethod::kEntropy:
      return Entropy(levels);
    case RangeMethod::kMinMax:
      break;
  }
  return largest_;
}

float RangeCollector::Percentile(double percent) const {
  const double wanted = static_cast<double>(count_ - not_finite_) * percent / 100;
  int64_t below = 0;
  for (size_t i = 0; i < kBins; ++i) {
    below += bins_[i];
    if (static_cast<double>(below) >= wanted) {
      return std::min(largest_, width_ * static_cast<float>(i + 1));
    }
  }
  return largest_;
}

// The cut at which the distribution and its quantized form differ least (Kullback-Leibler
// divergence): what lies above the cut is added to the last bin, the bins below are joined to
// `levels` groups, and each group's count is spread over those of its bins that have any.
float RangeCollector::Entropy(int levels) const {
  const auto groups = static_cast<size_t>(levels) + 1;
  constexpr size_t kStep = 16;
  size_t used = kBins;
  while (used > groups && bins_[used - 1] == 0) --used;
  std::vector<int64_t> outside(used + 1, 0);  // counts from bin i on
  for (size_t i = used; i-- > 0;) outside[i] = outside[i + 1] + bins_[i];
  // Bin 0 is left out: zeros (behind a relu half of all) are exact whatever the cut.
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
        sum += static_cast<double>(bins_[i]);
        filled += bins_[i] > 0;
      }
      if (filled == 0) continue;
      const double spread = sum / static_cast<double>(filled);
      for (size_t i = first; i < end; ++i) {
        double p = static_cast<double>(bins_[i]);
        if (i + 1 == bins) p += static_cast<double>(outside[bins]);
        if (bins_[i] > 0) divergence += p * std::log(p / spread);
      }
    }
    // The last bin has no count of its own: what was cut off has no counterpart at all.
    if (bins_[bins - 1] == 0 && outside[bins] > 0) {
      const double p = static_cast<double>(outside[bins]);
      divergence += p * std::log(p / 1e-4);
    }
    if (total > 0 && divergence / total < best) {
      best = divergence / total;
      cut = bins;
    }
  }
  return std::min(largest_, width_ * static_cast<float>(cut));
}

}  // namespace tenon
