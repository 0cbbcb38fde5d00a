// The range that a tensor's integers shall cover, from what it held while a model ran on samples.
//
//   RangeCollector seen;
//   seen.Add(values);
//   float top = seen.Top({.method = RangeMethod::kPercentile}, /*levels=*/255);
#ifndef TENON_TOOLS_QUANTIZE_RANGE_H_
#define TENON_TOOLS_QUANTIZE_RANGE_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"

namespace tenon {

enum class RangeMethod { kMinMax, kPercentile, kEntropy };

struct RangeOptions {
  RangeMethod method = RangeMethod::kPercentile;
  double percentile = 99.999;  // of the magnitudes, for kPercentile
};

// Counts magnitudes in bins of one width, which doubles whenever a larger value comes.
class RangeCollector {
 public:
  static constexpr int kBins = 4096;

  // NaN and infinities are counted apart.
  void Add(absl::Span<const float> values);

  int64_t count() const { return count_; }
  int64_t not_finite() const { return not_finite_; }
  bool negative() const { return min_ < 0; }
  float largest() const { return largest_; }

  // The magnitude that the highest of `levels` integers (127, 255) stands for; 0 where nothing but
  // zeros was seen.
  float Top(const RangeOptions& options, int levels) const;

 private:
  float Percentile(double percent) const;
  float Entropy(int levels) const;

  std::array<int64_t, kBins> bins_{};
  float width_ = 0;
  float largest_ = 0;
  float min_ = 0;
  int64_t count_ = 0;
  int64_t not_finite_ = 0;
};

}  // namespace tenon

#endif  // TENON_TOOLS_QUANTIZE_RANGE_H_
