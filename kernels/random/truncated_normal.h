// Normal numbers between given bounds, of given means and deviations, as in TensorFlow, with
// identical numbers (where TensorFlow uses one thread: it starts a sequence for each).
#ifndef TENON_KERNELS_RANDOM_TRUNCATED_NORMAL_H_
#define TENON_KERNELS_RANDOM_TRUNCATED_NORMAL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// InvalidArgument at Run for a deviation that is not positive, or bounds that are both infinite or
// not in order. half, float and double.

// Inputs: the output's shape, of at least one dimension; then mean, deviation, lower and upper
// bound, each a scalar or a vector with an element for each row of the output.
absl::StatusOr<std::unique_ptr<Kernel>> StatefulTruncatedNormals(PrepareContext& p);

// Inputs: the output's shape, a seed of two integers; then the same parameters, whose broadcast
// shape ends the output's.
absl::StatusOr<std::unique_ptr<Kernel>> StatelessTruncatedNormals(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_TRUNCATED_NORMAL_H_
