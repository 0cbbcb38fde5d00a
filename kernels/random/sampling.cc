#include "kernels/random/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/interface/types.h"

namespace tenon {

absl::StatusOr<LogitsSampler> LogitsSampler::Make(PrepareContext& p) {
  LogitsSampler s;
  s.logits_type_ = p.input_dtype(0);
  s.class_type_ = p.output_dtype(0);
  s.logits_ = p.input_shape(0);
  s.planned_ = p.output_shape(0);
  return s;
}

absl::Status LogitsSampler::Run(RunContext& run, const Philox& generator) const {
  const int64_t batch = logits_.dim(0), classes = logits_.dim(1);
  const int64_t samples = *run.input<int32_t>(1);
  void* out = nullptr;
  if (planned_.IsComplete()) {
    out = run.output(0);
  } else {
    if (samples < 0) return InvalidArgument("num_samples is ", samples);
    TENON_ASSIGN_OR_RETURN(out, run.AllocateOutput(0, Shape({batch, samples})));
  }
  PhiloxStream stream(generator);
  std::vector<double> sums(static_cast<size_t>(classes));
  return DispatchType(RealNumbers{}, logits_type_, [&]<typename T>() {
    for (int64_t b = 0; b < batch; ++b) {
      // Cumulative probabilities, scaled by the largest; classes that are not finite have none.
      const T* row = run.input<T>(0) + b * classes;
      auto value = [row](int64_t i) { return static_cast<double>(ToCompute(row[i])); };
      double largest = -std::numeric_limits<double>::infinity(), total = 0;
      for (int64_t i = 0; i < classes; ++i) {
        if (std::isfinite(value(i))) largest = std::max(largest, value(i));
      }
      for (int64_t i = 0; i < classes; ++i) {
        if (std::isfinite(value(i))) total += std::exp(value(i) - largest);
        sums[static_cast<size_t>(i)] = total;
      }
      for (int64_t i = 0; i < samples; ++i) {
        const double at = stream.NextDouble() * total;
        const int64_t k = std::upper_bound(sums.begin(), sums.end(), at) - sums.begin();
        VisitTypes(TypeList<int32_t, int64_t>{}, class_type_, [&]<typename I>() {
          static_cast<I*>(out)[b * samples + i] = static_cast<I>(k);
        });
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
