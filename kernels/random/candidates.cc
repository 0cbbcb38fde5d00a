#include "kernels/random/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "env/containers.h"
#include "env/status.h"
#include "kernels/random/sequence.h"

namespace tenon {
namespace {

struct ClassSampler {
  CandidateDistribution distribution = CandidateDistribution::kAll;
  int64_t range = 1, count = 0;
  bool unique = false;

  int64_t Draw(PhiloxStream& random) const {
    if (distribution == CandidateDistribution::kUniform) {
      return static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(range)));
    }
    const double log_range = std::log1p(static_cast<double>(range));
    const double drawn = std::exp(random.NextDouble() * log_range);
    // Rounding may lead out of the range.
    return drawn < 0x1p63 ? (static_cast<int64_t>(drawn) - 1) % range : 0;
  }
  float Probability(int64_t value) const {
    if (distribution == CandidateDistribution::kUniform) {
      return static_cast<float>(1.0 / static_cast<double>(range));
    }
    const double v = static_cast<double>(value);
    return static_cast<float>(std::log((v + 2) / (v + 1)) / std::log1p(static_cast<double>(range)));
  }

  // Fills `out`; returns how many numbers were drawn, including repeated ones that were dropped.
  int64_t Fill(PhiloxStream& random, int64_t* out) const {
    if (!unique) {
      for (int64_t i = 0; i < count; ++i) out[i] = Draw(random);
      return count;
    }
    HashSet<int64_t> used;
    int64_t tries = 0;
    for (int64_t i = 0; i < count; ++tries) {
      const int64_t value = Draw(random);
      if (used.insert(value).second) out[i++] = value;
    }
    return tries;
  }

  float Expected(int64_t value, int64_t tries) const {
    if (distribution == CandidateDistribution::kAll) return 1;
    const float probability = Probability(value);
    if (tries == count) return probability * static_cast<float>(count);
    return -std::expm1(static_cast<float>(tries) * std::log1p(-probability));
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SampleCandidates(PrepareContext& p,
                                                         CandidateDistribution distribution) {
  ClassSampler sampler{distribution, p.attrs().Int("range_max", 0), p.attrs().Int("num_sampled", 0),
                       p.attrs().Bool("unique", false)};
  if (distribution == CandidateDistribution::kAll) sampler.range = sampler.count;
  const int64_t true_classes = p.input_shape(0).num_elements();
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& r) -> absl::Status {
    const int64_t* const classes = r.input<int64_t>(0);
    for (int64_t i = 0; i < true_classes; ++i) {
      if (classes[i] >= 0 && classes[i] < sampler.range) continue;
      return InvalidArgument("true class ", classes[i], " is not in [0, ", sampler.range, ")");
    }
    constexpr uint64_t kReserved = 2048;  // for each class
    PhiloxStream random(sequence->Take(kReserved * static_cast<uint64_t>(sampler.count)));
    int64_t* const sampled = r.output<int64_t>(0);
    int64_t tries = sampler.count;
    if (sampler.distribution == CandidateDistribution::kAll) {
      for (int64_t i = 0; i < sampler.count; ++i) sampled[i] = i;
    } else {
      tries = sampler.Fill(random, sampled);
    }
    const auto expected = [&](int64_t value) { return sampler.Expected(value, tries); };
    std::transform(classes, classes + true_classes, r.output<float>(1), expected);
    std::transform(sampled, sampled + sampler.count, r.output<float>(2), expected);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> AccidentalHits(PrepareContext& p) {
  const int64_t rows = p.input_shape(0).dim(0), columns = p.input_shape(0).dim(1);
  const int64_t count = p.input_shape(1).dim(0);
  return MakeKernel([=](RunContext& r) -> absl::Status {
    HashMap<int64_t, int64_t> positions;
    for (int64_t i = 0; i < count; ++i) positions[r.input<int64_t>(1)[i]] = i;
    std::vector<int32_t> hit_rows;
    std::vector<int64_t> hits;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const auto found = positions.find(r.input<int64_t>(0)[i]);
      if (found == positions.end()) continue;
      hit_rows.push_back(static_cast<int32_t>(i / columns));
      hits.push_back(found->second);
    }
    const Shape out({std::ssize(hits)});
    TENON_ASSIGN_OR_RETURN(void* const indices, r.AllocateOutput(0, out));
    TENON_ASSIGN_OR_RETURN(void* const ids, r.AllocateOutput(1, out));
    TENON_ASSIGN_OR_RETURN(void* const weights, r.AllocateOutput(2, out));
    std::copy(hit_rows.begin(), hit_rows.end(), static_cast<int32_t*>(indices));
    std::copy(hits.begin(), hits.end(), static_cast<int64_t*>(ids));
    std::fill_n(static_cast<float*>(weights), hits.size(), std::numeric_limits<float>::lowest());
    return absl::OkStatus();
  });
}

}  // namespace tenon
