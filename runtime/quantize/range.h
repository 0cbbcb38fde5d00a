// The range that a tensor's integers shall cover, from what it held while a model ran on samples.
//
//   RangeCollector seen;
//   seen.Add(values);
//   const ValueRange range = seen.Range({.method = RangeMethod::kError});
#ifndef TENON_RUNTIME_QUANTIZE_RANGE_H_
#define TENON_RUNTIME_QUANTIZE_RANGE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace tenon {

enum class RangeMethod { kMinMax, kPercentile, kEntropy, kError };

struct RangeOptions {
  RangeMethod method = RangeMethod::kError;
  double percentile = 99.999;  // of the magnitudes, for kPercentile
};

// low <= 0 <= high.
struct ValueRange {
  float low = 0, high = 0;
};

// Counts numbers of either sign in bins of one width, which doubles whenever a larger one comes.
class RangeCollector {
 public:
  static constexpr int kBins = 4096;  // of each sign

  // NaN and infinities are counted apart.
  void Add(absl::Span<const float> values);

  int64_t count() const { return count_; }
  int64_t not_finite() const { return not_finite_; }
  bool negative() const { return min_ < 0; }

  // What the lowest and the highest of 256 integers stand for; both 0 where nothing but zeros was
  // seen.
  ValueRange Range(const RangeOptions& options) const;

 private:
  using Bins = std::array<int64_t, kBins>;

  // Cuts of both signs at one magnitude.
  ValueRange CutAt(float magnitude) const;
  int64_t Both(size_t bin) const { return bins_[0][bin] + bins_[1][bin]; }
  float Percentile(double percent) const;
  float Entropy() const;
  ValueRange LeastError() const;

  std::array<Bins, 2> bins_{};  // of numbers from 0 on, and of those below 0
  float width_ = 0;
  float min_ = 0, max_ = 0;
  int64_t count_ = 0;
  int64_t not_finite_ = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_RANGE_H_
