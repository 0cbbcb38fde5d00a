// Sampler: chooses the next token from a model's logits.
#ifndef TENON_RUNTIME_GENERATE_SAMPLER_H_
#define TENON_RUNTIME_GENERATE_SAMPLER_H_

#include <cstdint>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

struct SamplingOptions {
  // 0: always the token with the largest logit (the first of equal ones).
  double temperature = 0;
  // Only the k likeliest tokens are candidates; 0: all of them.
  int64_t top_k = 0;
  // Of these, only the fewest that together have at least this probability; 1: all of them.
  double top_p = 1;
  uint64_t seed = 0;
};

// InvalidArgument if a value is out of range.
absl::Status CheckSampling(const SamplingOptions& options);

class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options) : options_(options), random_(options.seed) {}

  // The index of the chosen logit. InvalidArgument if there are no logits, or all are NaN or -inf.
  absl::StatusOr<int64_t> Sample(absl::Span<const float> logits);
  // Starts the sequence of random numbers again.
  void Reset() { random_.seed(options_.seed); }

 private:
  SamplingOptions options_;
  std::mt19937_64 random_;
  std::vector<int64_t> candidates_;
  std::vector<double> weights_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_GENERATE_SAMPLER_H_
