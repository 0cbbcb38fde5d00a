// Draws of classes from unnormalized log-probabilities: Multinomial and StatelessMultinomial.
#ifndef TENON_OPS_RANDOM_SAMPLING_H_
#define TENON_OPS_RANDOM_SAMPLING_H_

#include "absl/status/statusor.h"
#include "ops/kernel.h"
#include "ops/random/philox.h"
#include "ops/shape_fn.h"

namespace tenon {

// logits [batch, classes], num_samples -> [batch, num_samples].
absl::Status MultinomialShape(ShapeContext& c);

class Sampler {
 public:
  static absl::StatusOr<Sampler> Make(PrepareContext& p);
  absl::Status Run(RunContext& run, const Philox& generator) const;

 private:
  DType logits_type_ = DType::kInvalid;
  DType class_type_ = DType::kInvalid;
  Shape logits_;
  Shape planned_;
};

}  // namespace tenon

#endif  // TENON_OPS_RANDOM_SAMPLING_H_
