// Batch normalization with given statistics.
#ifndef TENON_PRIMITIVE_CACHE_BATCH_NORMALIZATION_H_
#define TENON_PRIMITIVE_CACHE_BATCH_NORMALIZATION_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "primitive_cache/cache.h"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// Arguments: src, mean, variance, scale, shift, dst. No dimension may be 0. dst has src's layout
// and may be the same memory.
struct BatchNormalizationProblem {
  TensorDesc src;  // N, C, spatial
  float epsilon = 0;
  int threads = 1;

  friend bool operator==(const BatchNormalizationProblem&,
                         const BatchNormalizationProblem&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const BatchNormalizationProblem& p) {
    return H::combine(std::move(h), p.src, p.epsilon, p.threads);
  }
};

// Unimplemented where oneDNN has only plain loops for it.
absl::StatusOr<std::shared_ptr<const Primitive>> GetBatchNormalization(
    const BatchNormalizationProblem& problem, PrimitiveCache* cache);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_BATCH_NORMALIZATION_H_
