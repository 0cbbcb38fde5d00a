// Starts of k-means: which points become the first centers. The numbers drawn are TensorFlow's for
// the same seed.
#ifndef TENON_KERNELS_RANDOM_K_MEANS_H_
#define TENON_KERNELS_RANDOM_K_MEANS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// k-means++: each center is a point drawn with a probability proportional to its squared distance
// from the nearest center so far. Inputs: points [n, d], the number of centers, a seed, and how
// often a draw is repeated for the best one (negative: 2 + the logarithm of the number). Output:
// the centers. InvalidArgument at Run for more than kMostRetries.
inline constexpr int64_t kMostRetries = 1 << 16;
absl::StatusOr<std::unique_ptr<Kernel>> KMeansPlusPlus(PrepareContext& p);

// A Markov chain over the points, in which the next point replaces the last one with probability
// min(1, its distance / the last one's). Inputs: distances, at least one, and a seed. Output: the
// index of the point at the chain's end.
absl::StatusOr<std::unique_ptr<Kernel>> KMeansChain(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_K_MEANS_H_
