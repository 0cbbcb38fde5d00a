// Gamma, Poisson and binomial numbers, by rejection sampling as in TensorFlow, with identical
// numbers: each output has its own part of the generator's sequence.
#ifndef TENON_KERNELS_RANDOM_REJECTION_H_
#define TENON_KERNELS_RANDOM_REJECTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/random/output.h"
#include "kernels/random/philox.h"

namespace tenon {

enum class Sampled { kGamma, kPoisson, kBinomial };

// Inputs: the output's shape, the generator's inputs, then alpha, the rate, or counts and
// probabilities. The output's shape ends with the parameters' broadcast shape, or continues with it
// (`appended`). A parameter that is no number, or outside its range, gives NaN.
class RejectionSampler {
 public:
  // first, shape: the inputs that hold the first parameter and the output's shape.
  static RejectionSampler Of(PrepareContext& p, Sampled what, int first, bool appended,
                             int shape = 0);

  // Output 0. InvalidArgument if its shape does not end with the parameters'.
  absl::StatusOr<RandomOutput> OutputAt(RunContext& run) const;
  // Elements of the parameters' broadcast shape.
  int64_t parameters() const { return parameters_.num_elements(); }
  // 256 blocks of the generator belong to each output.
  void Fill(RunContext& run, const RandomOutput& output, const Philox& generator) const;

 private:
  Sampled what_ = Sampled::kGamma;
  int first_ = 0, shape_ = 0, threads_ = 1;
  bool appended_ = false;
  DType shape_type_ = DType::kInvalid, parameter_type_ = DType::kInvalid;
  DType output_type_ = DType::kInvalid;
  int64_t rank_ = 0;
  Shape planned_;
  std::vector<Shape> shapes_;  // of the parameters
  Shape parameters_;           // broadcast; no rank if they do not broadcast
};

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_REJECTION_H_
