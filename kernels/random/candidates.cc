#include "kernels/random/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "env/containers.h"
#include "env/mutex.h"
#include "env/status.h"
#include "kernels/random/sequence.h"

namespace tenon {
namespace {

// Draws numbers in proportion to weights by the alias method of Walker (1977), as TensorFlow does:
// an even draw of n places, each of which is shared by at most two numbers.
class AliasTable {
 public:
  // `total` is that of the weights, rounded as TensorFlow rounds it.
  AliasTable(std::vector<float> weights, float total)
      : weights_(std::move(weights)), total_(total), places_(weights_.size()) {
    const auto n = static_cast<float>(weights_.size());
    double sum = 0;
    for (const float w : weights_) sum += static_cast<double>(w);
    std::vector<double> shares;
    std::vector<size_t> small, large;
    for (size_t i = 0; i < weights_.size(); ++i) {
      shares.push_back(static_cast<double>(weights_[i] * n) / sum);
      (shares[i] < 1 ? small : large).push_back(i);
      places_[i].alias = i;
    }
    while (!small.empty() && !large.empty()) {
      const size_t filled = small.back(), giver = large.back();
      small.pop_back();
      places_[filled] = {static_cast<float>(shares[filled]), giver};
      shares[giver] -= 1 - shares[filled];
      if (shares[giver] >= 1) continue;
      large.pop_back();
      small.push_back(giver);
    }
  }

  int64_t Draw(PhiloxStream& random) const {
    const float r = random.NextFloat();
    const size_t i = random.NextBelow(static_cast<uint32_t>(places_.size()));
    return static_cast<int64_t>(r < places_[i].own ? i : places_[i].alias);
  }
  float Probability(int64_t value) const { return weights_[static_cast<size_t>(value)] / total_; }

 private:
  struct Place {
    float own = 1;  // the share of its own number; the rest is the alias's
    size_t alias = 0;
  };
  std::vector<float> weights_;
  float total_;
  std::vector<Place> places_;
};

absl::StatusOr<std::shared_ptr<const AliasTable>> WeightsOf(const AttrReader& attrs, int64_t range,
                                                            int64_t distinct) {
  if (!attrs.String("vocab_file", "").empty()) return Unimplemented("weights in a file");
  const auto* unigrams = attrs.node().attr<std::vector<float>>("unigrams");
  if (unigrams == nullptr || unigrams->empty()) return InvalidArgument("there are no unigrams");
  const int64_t reserved = attrs.Int("num_reserved_ids", 0), shards = attrs.Int("num_shards", 1);
  const int64_t shard = attrs.Int("shard", 0);
  const float distortion = attrs.Float("distortion", 1);
  if (shards < 1 || shard < 0) return InvalidArgument("shard ", shard, " of ", shards);
  std::vector<float> weights;
  for (int64_t id = shard; id < reserved && std::ssize(weights) <= range; id += shards) {
    weights.push_back(0);
  }
  int64_t id = std::ssize(weights);  // as TensorFlow counts
  float total = 0;
  int64_t positive = 0;
  for (const float unigram : *unigrams) {
    if (id++ % shards != shard) continue;
    weights.push_back(std::pow(unigram, distortion));
    total += weights.back();
    positive += weights.back() > 0 ? 1 : 0;
    if (!(weights.back() >= 0)) return InvalidArgument("a weight of ", weights.back());
  }
  if (std::ssize(weights) != range) {
    return InvalidArgument(weights.size(), " weights for ", range, " classes");
  }
  if (positive < std::max<int64_t>(distinct, 1) || !std::isfinite(total)) {
    return InvalidArgument(positive, " positive weights, ", total, " in all, for ", distinct,
                           " different classes");
  }
  return std::make_shared<const AliasTable>(std::move(weights), total);
}

// How often classes were seen. Each has a weight of one more.
class SeenClasses final : public Object {
 public:
  Mutex mutex;

  int64_t Draw(PhiloxStream& random, int64_t range) const {
    const int64_t place =
        static_cast<int64_t>(random.NextBelow(static_cast<uint32_t>(range + total_)));
    int64_t before = 0;  // seen, of smaller classes
    for (const auto& [value, times] : times_) {
      if (place < value + before) break;
      if (place <= value + before + times) return value;
      before += times;
    }
    return place - before;
  }
  float Probability(int64_t value, int64_t range) const {
    const auto found = times_.find(value);
    const int64_t weight = found == times_.end() ? 1 : found->second + 1;
    return static_cast<float>(weight) / static_cast<float>(range + total_);
  }
  void Add(int64_t value) {
    ++times_[value];
    ++total_;
  }
  int64_t total() const { return total_; }

 private:
  OrderedMap<int64_t, int64_t> times_;
  int64_t total_ = 0;
};

// As in TensorFlow, which then stops the process.
constexpr int64_t kMostTries = std::numeric_limits<int32_t>::max();

struct ClassSampler {
  CandidateDistribution distribution = CandidateDistribution::kAll;
  int64_t range = 1, count = 0;
  bool unique = false;
  std::shared_ptr<const AliasTable> weights = nullptr;
  const SeenClasses* seen = nullptr;

  int64_t Draw(PhiloxStream& random) const {
    if (distribution == CandidateDistribution::kUniform) {
      return static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(range)));
    }
    if (weights != nullptr) return weights->Draw(random);
    if (seen != nullptr) return seen->Draw(random, range);
    const double log_range = std::log1p(static_cast<double>(range));
    const double drawn = std::exp(random.NextDouble() * log_range);
    // Rounding may lead out of the range.
    return drawn < 0x1p63 ? (static_cast<int64_t>(drawn) - 1) % range : 0;
  }
  float Probability(int64_t value) const {
    if (distribution == CandidateDistribution::kUniform) {
      return static_cast<float>(1.0 / static_cast<double>(range));
    }
    if (weights != nullptr) return weights->Probability(value);
    if (seen != nullptr) return seen->Probability(value, range);
    const double v = static_cast<double>(value);
    return static_cast<float>(std::log((v + 2) / (v + 1)) / std::log1p(static_cast<double>(range)));
  }

  // Fills `out`; returns how many numbers were drawn, including repeated ones that were dropped.
  absl::StatusOr<int64_t> Fill(PhiloxStream& random, int64_t* out) const {
    if (!unique) {
      for (int64_t i = 0; i < count; ++i) out[i] = Draw(random);
      return count;
    }
    HashSet<int64_t> used;
    int64_t tries = 0;
    for (int64_t i = 0; i < count; ++tries) {
      if (tries == kMostTries) return InvalidArgument("some weights are too small to be drawn");
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

absl::Status Sample(const ClassSampler& sampler, int64_t true_classes, RandomSequence& sequence,
                    RunContext& r) {
  const int64_t* const classes = r.input<int64_t>(0);
  for (int64_t i = 0; i < true_classes; ++i) {
    if (classes[i] >= 0 && classes[i] < sampler.range) continue;
    return InvalidArgument("true class ", classes[i], " is not in [0, ", sampler.range, ")");
  }
  constexpr uint64_t kReserved = 2048;  // for each class
  PhiloxStream random(sequence.Take(kReserved * static_cast<uint64_t>(sampler.count)));
  int64_t* const sampled = r.output<int64_t>(0);
  int64_t tries = sampler.count;
  if (sampler.distribution == CandidateDistribution::kAll) {
    for (int64_t i = 0; i < sampler.count; ++i) sampled[i] = i;
  } else {
    TENON_ASSIGN_OR_RETURN(tries, sampler.Fill(random, sampled));
  }
  const auto expected = [&](int64_t value) { return sampler.Expected(value, tries); };
  std::transform(classes, classes + true_classes, r.output<float>(1), expected);
  std::transform(sampled, sampled + sampler.count, r.output<float>(2), expected);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SampleCandidates(PrepareContext& p,
                                                         CandidateDistribution distribution) {
  ClassSampler sampler{distribution, p.attrs().Int("range_max", 0), p.attrs().Int("num_sampled", 0),
                       p.attrs().Bool("unique", false)};
  if (distribution == CandidateDistribution::kAll) sampler.range = sampler.count;
  if (distribution == CandidateDistribution::kWeighted) {
    TENON_ASSIGN_OR_RETURN(sampler.weights,
                           WeightsOf(p.attrs(), sampler.range, sampler.unique ? sampler.count : 0));
  }
  const int64_t true_classes = p.input_shape(0).num_elements();
  return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& r) {
    return Sample(sampler, true_classes, *sequence, r);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SampleLearned(PrepareContext& p) {
  const ClassSampler sampler{CandidateDistribution::kWeighted, p.attrs().Int("range_max", 0),
                             p.attrs().Int("num_sampled", 0), p.attrs().Bool("unique", false)};
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();  // the sum of all weights
  if (sampler.range > kMost) return InvalidArgument(sampler.range, " classes");
  const int64_t true_classes = p.input_shape(0).num_elements();
  const std::shared_ptr<RandomSequence> sequence = RandomSequence::Of(p.attrs());
  return MakeKernel([=, seen = sequence->Kept<SeenClasses>()](RunContext& r) -> absl::Status {
    MutexLock lock(&seen->mutex);
    if (sampler.range + seen->total() > kMost - true_classes) {
      return InvalidArgument(seen->total(), " classes were seen: too many");
    }
    ClassSampler now = sampler;
    now.seen = seen.get();
    TENON_RETURN_IF_ERROR(Sample(now, true_classes, *sequence, r));
    const int64_t* const classes = r.input<int64_t>(0);
    for (int64_t i = 0; i < true_classes; ++i) seen->Add(classes[i]);
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
