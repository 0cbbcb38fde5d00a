// Chooses the range of a tensor's integers during calibration, from the values that it had on
// samples.
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

// Counts numbers of both signs in bins of equal width, which doubles when a larger number arrives.
class RangeCollector {
 public:
  static constexpr int kBins = 4096;  // of each sign

  // NaN and infinities are counted separately.
  void Add(absl::Span<const float> values);

  int64_t count() const { return count_; }
  int64_t not_finite() const { return not_finite_; }
  bool negative() const { return min_ < 0; }

  // The numbers that the lowest and the highest of 256 integers represent; both 0 if there were
  // only zeros.
  ValueRange Range(const RangeOptions& options) const;

 private:
  using Bins = std::array<int64_t, kBins>;

  // Clips both signs at the same magnitude.
  ValueRange CutAt(float magnitude) const;
  int64_t Both(size_t bin) const { return bins_[0][bin] + bins_[1][bin]; }
  float Percentile(double percent) const;
  float Entropy() const;
  ValueRange LeastError() const;

  std::array<Bins, 2> bins_{};  // for numbers >= 0, and for those below 0
  float width_ = 0;
  float min_ = 0, max_ = 0;
  int64_t count_ = 0;
  int64_t not_finite_ = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_RANGE_H_
