#include "runtime/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "env/status.h"

namespace tenon {
namespace {

bool IsCandidate(float logit) {
  return !std::isnan(logit) && logit != -std::numeric_limits<float>::infinity();
}

int64_t Largest(absl::Span<const float> logits) {
  int64_t best = -1;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!IsCandidate(logits[i])) continue;
    if (best < 0 || logits[i] > logits[static_cast<size_t>(best)]) best = static_cast<int64_t>(i);
  }
  return best;
}

}  // namespace

absl::Status CheckSampling(const SamplingOptions& options) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    return InvalidArgument("the temperature must be 0 or a positive number, but is ",
                           options.temperature);
  }
  if (options.top_k < 0) return InvalidArgument("top-k must not be negative");
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    return InvalidArgument("top-p must be above 0 and at most 1, but is ", options.top_p);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Sampler::Sample(absl::Span<const float> logits) {
  const int64_t largest = Largest(logits);
  if (largest < 0) {
    return InvalidArgument("none of the ", logits.size(), " logits is a number above -inf");
  }
  if (options_.temperature == 0 || options_.top_k == 1) return largest;

  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (IsCandidate(logits[i])) candidates_.push_back(static_cast<int64_t>(i));
  }
  const auto likelier = [&](int64_t a, int64_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  // Top-p needs them in order; without it, only the k likeliest must come first.
  size_t kept = candidates_.size();
  if (options_.top_k > 0) kept = std::min(kept, static_cast<size_t>(options_.top_k));
  if (options_.top_p < 1 || kept < candidates_.size()) {
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::partial_sort(candidates_.begin(), end, candidates_.end(), likelier);
    candidates_.erase(end, candidates_.end());
  }

  // exp(+inf - +inf) is NaN: a logit of +inf is certain.
  const double top = logits[static_cast<size_t>(largest)];
  if (std::isinf(top)) return largest;
  weights_.clear();
  for (int64_t i : candidates_) {
    weights_.push_back(std::exp((logits[static_cast<size_t>(i)] - top) / options_.temperature));
  }
  double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  if (options_.top_p < 1) {
    double sum = 0;
    size_t count = 0;
    while (count < weights_.size() && (count == 0 || sum < options_.top_p * total)) {
      sum += weights_[count++];
    }
    weights_.resize(count);
    total = sum;
  }
  // 53 random bits: the same number on every machine and standard library.
  double at = static_cast<double>(random_() >> 11) * 0x1p-53 * total;
  for (size_t i = 0; i < weights_.size(); ++i) {
    at -= weights_[i];
    if (at < 0) return candidates_[i];
  }
  return candidates_[weights_.size() - 1];
}

}  // namespace tenon
