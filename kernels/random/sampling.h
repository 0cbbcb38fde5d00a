// Samples classes from unnormalized log-probabilities: Multinomial and StatelessMultinomial.
#ifndef TENON_KERNELS_RANDOM_SAMPLING_H_
#define TENON_KERNELS_RANDOM_SAMPLING_H_

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/random/philox.h"

namespace tenon {

class LogitsSampler {
 public:
  static absl::StatusOr<LogitsSampler> Make(PrepareContext& p);
  absl::Status Run(RunContext& run, const Philox& generator) const;

 private:
  DType logits_type_ = DType::kInvalid;
  DType class_type_ = DType::kInvalid;
  Shape logits_;
  Shape planned_;
  int threads_ = 1;
};

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_SAMPLING_H_
