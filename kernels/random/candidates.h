// Samples classes for losses over many classes (sampled softmax, noise-contrastive estimation), as
// TensorFlow does, with identical numbers for the same seeds.
#ifndef TENON_KERNELS_RANDOM_CANDIDATES_H_
#define TENON_KERNELS_RANDOM_CANDIDATES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

enum class CandidateDistribution {
  kAll,         // every class once
  kUniform,     // equal probabilities
  kLogUniform,  // class k with probability log((k + 2) / (k + 1)) / log(range + 1)
  kWeighted,    // in proportion to weights in the attributes
};

// Input: the true classes [batch, num_true], int64. Attributes: num_sampled, unique, seed, seed2,
// and range_max, the number of classes (kAll: num_sampled). Outputs: classes [num_sampled], int64;
// how often each true class and each sampled class is to be expected among them, float.
// InvalidArgument at Run for a true class that is not in [0, range_max).
//
// kWeighted: num_reserved_ids weights of 0, then unigrams, each to the power of distortion; of
// these, those of ids that are `shard` modulo num_shards. InvalidArgument unless they are range_max
// finite weights, enough of them positive. Unimplemented for weights in a file (vocab_file): a
// model must not choose which files are read.
absl::StatusOr<std::unique_ptr<Kernel>> SampleCandidates(PrepareContext& p,
                                                         CandidateDistribution distribution);

// The same as a kernel factory.
template <CandidateDistribution kDistribution>
absl::StatusOr<std::unique_ptr<Kernel>> SampleCandidates(PrepareContext& p) {
  return SampleCandidates(p, kDistribution);
}

// Draws classes in proportion to one more than how often each was a true class in earlier calls of
// the node. Input, attributes, outputs and errors as above.
absl::StatusOr<std::unique_ptr<Kernel>> SampleLearned(PrepareContext& p);

// Inputs: true classes [batch, num_true] and sampled classes [n], int64. Outputs, one element for
// each true class that was sampled: its row, int32; its (last) position among the sampled classes,
// int64; the lowest float, which added to the class's logit removes it.
absl::StatusOr<std::unique_ptr<Kernel>> AccidentalHits(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_CANDIDATES_H_
