// UniformCandidateSampler, LogUniformCandidateSampler, FixedUnigramCandidateSampler,
// LearnedUnigramCandidateSampler, AllCandidateSampler, ComputeAccidentalHits: samples of classes
// for losses over many classes.
#include <limits>

#include "kernels/random/candidates.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Input `c.input(0)` has num_true columns.
absl::Status ExpectTrueClasses(const ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_ASSIGN_OR_RETURN(const int64_t columns, c.attrs().Int("num_true"));
  if (columns < 1) return InvalidArgument("num_true must be positive, is ", columns);
  if (Shape({-1, columns}).CompatibleWith(c.input(0))) return absl::OkStatus();
  return InvalidArgument("true_classes must have ", columns, " columns, have shape ",
                         c.input(0).ToString());
}

absl::Status CandidateShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectTrueClasses(c));
  TENON_ASSIGN_OR_RETURN(const int64_t count, c.attrs().Int("num_sampled"));
  if (count < 1 || count > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("num_sampled must be positive and fit int32, is ", count);
  }
  const int64_t range = c.attrs().Int("range_max", count);
  if (range < 1) return InvalidArgument("range_max must be positive, is ", range);
  if (c.attrs().Bool("unique", false) && count > range) {
    return InvalidArgument(count, " unique classes of ", range);
  }
  c.set_output(0, Shape({count}));
  c.set_output(1, c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(2));
  c.set_output(2, Shape({count}));
  return absl::OkStatus();
}

absl::Status AccidentalHitsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectTrueClasses(c));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape({-1}));
  return absl::OkStatus();
}

OpRow Candidates(const char* name, const char* attrs, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "true_classes: int64",
      .outputs =
          "sampled_candidates: int64, true_expected_count: float, "
          "sampled_expected_count: float",
      .attrs = attrs,
      .shape = CandidateShape,
      .reference = reference,
      .stateful = true,
      .error_bound = ErrorBound::kTranscendental,
  };
}

constexpr char kRangeAttrs[] =
    "num_true: int; num_sampled: int; unique: bool; range_max: int; seed: int = 0; seed2: int = 0";

const OpRegistration all_candidates(
    Candidates("AllCandidateSampler",
               "num_true: int; num_sampled: int; unique: bool; seed: int = 0; seed2: int = 0",
               SampleCandidates<CandidateDistribution::kAll>));
const OpRegistration uniform_candidates(Candidates(
    "UniformCandidateSampler", kRangeAttrs, SampleCandidates<CandidateDistribution::kUniform>));
const OpRegistration log_uniform_candidates(
    Candidates("LogUniformCandidateSampler", kRangeAttrs,
               SampleCandidates<CandidateDistribution::kLogUniform>));

const OpRegistration fixed_unigram_candidates(Candidates(
    "FixedUnigramCandidateSampler",
    "num_true: int; num_sampled: int; unique: bool; range_max: int; vocab_file: string = ; "
    "distortion: float = 1; num_reserved_ids: int = 0; num_shards: int = 1; shard: int = 0; "
    "unigrams: list(float) = []; seed: int = 0; seed2: int = 0",
    SampleCandidates<CandidateDistribution::kWeighted>));

const OpRegistration learned_unigram_candidates(Candidates("LearnedUnigramCandidateSampler",
                                                           kRangeAttrs, SampleLearned));
// The same, without a lock.
const OpRegistration unlocked_unigram_candidates(Candidates("ThreadUnsafeUnigramCandidateSampler",
                                                            kRangeAttrs, SampleLearned));

const OpRegistration accidental_hits({
    .name = "ComputeAccidentalHits",
    .inputs = "true_classes: int64, sampled_candidates: int64",
    .outputs = "indices: int32, ids: int64, weights: float",
    .attrs = "num_true: int; seed: int = 0; seed2: int = 0",
    .shape = AccidentalHitsShape,
    .reference = AccidentalHits,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
