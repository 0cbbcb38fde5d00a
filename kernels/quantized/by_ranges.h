// What a kernel computes from its ranges, which are inputs but rarely change: kept for the ranges
// that it saw last.
#ifndef TENON_KERNELS_QUANTIZED_BY_RANGES_H_
#define TENON_KERNELS_QUANTIZED_BY_RANGES_H_

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "env/mutex.h"
#include "env/status.h"
#include "kernels/interface/kernel.h"
#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

template <typename Value>
class ByRanges {
 public:
  // `weights_ranges`: the number of the weights' ranges.
  ByRanges(const QuantizedInputs& in, int64_t weights_ranges)
      : in_(in), weights_ranges_(weights_ranges) {}

  // The last value, or what `make` returns for the ranges of `r`.
  template <typename Make>
  absl::StatusOr<std::shared_ptr<const Value>> Get(RunContext& r, Make make) const {
    if (std::shared_ptr<const Entry> last = Last(); last != nullptr && Has(*last, r)) {
      return std::shared_ptr<const Value>(last, &last->value);
    }
    std::vector<float> ranges;
    ForEach([&](int i, int64_t n) {
      ranges.insert(ranges.end(), r.input<float>(i), r.input<float>(i) + n);
    });
    TENON_ASSIGN_OR_RETURN(Value value, make());
    const auto made = std::make_shared<const Entry>(Entry{std::move(ranges), std::move(value)});
    const MutexLock lock(&mutex_);
    last_ = made;
    return std::shared_ptr<const Value>(made, &made->value);
  }

 private:
  struct Entry {
    std::vector<float> ranges;
    Value value;
  };

  std::shared_ptr<const Entry> Last() const {
    const MutexLock lock(&mutex_);
    return last_;
  }

  template <typename F>
  void ForEach(F&& f) const {
    for (int i : {in_.data_range, in_.result_range, in_.summand_range}) {
      if (i < 0) continue;
      f(i, 1);
      f(i + 1, 1);
    }
    f(in_.weights_range, weights_ranges_);
    f(in_.weights_range + 1, weights_ranges_);
  }

  bool Has(const Entry& entry, RunContext& r) const {
    const float* known = entry.ranges.data();
    bool same = true;
    ForEach([&](int i, int64_t n) {
      same = same && std::memcmp(known, r.input(i), static_cast<size_t>(n) * sizeof(float)) == 0;
      known += n;
    });
    return same;
  }

  const QuantizedInputs in_;
  const int64_t weights_ranges_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Entry> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_BY_RANGES_H_
