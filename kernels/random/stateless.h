// Random numbers that depend only on inputs: a seed of two integers (shape, seed, ...), or key,
// counter and algorithm (shape, key, counter, algorithm, ...). InvalidArgument at Run for an
// algorithm other than Philox.
#ifndef TENON_KERNELS_RANDOM_STATELESS_H_
#define TENON_KERNELS_RANDOM_STATELESS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/random/philox.h"
#include "kernels/random/rejection.h"

namespace tenon {

// The generator for a seed of two integers of `dtype`.
Philox PhiloxOfSeed(DType dtype, const void* seed);

// Floating-point dtypes. Input 0 is the output's shape.
absl::StatusOr<std::unique_ptr<Kernel>> StatelessFloats(PrepareContext& p,
                                                        Distribution distribution);

// All bits, or between the bounds that follow the generator's inputs. 32 and 64 bits.
enum class RandomBounds { kFull, kGiven };
absl::StatusOr<std::unique_ptr<Kernel>> StatelessInts(PrepareContext& p, RandomBounds bounds);

// Kernel factories.
template <Distribution kDistribution>
absl::StatusOr<std::unique_ptr<Kernel>> StatelessFloats(PrepareContext& p) {
  return StatelessFloats(p, kDistribution);
}
template <RandomBounds kBounds>
absl::StatusOr<std::unique_ptr<Kernel>> StatelessInts(PrepareContext& p) {
  return StatelessInts(p, kBounds);
}

// The parameters follow the generator's inputs.
absl::StatusOr<std::unique_ptr<Kernel>> StatelessSampled(PrepareContext& p, Sampled what);
template <Sampled kWhat>
absl::StatusOr<std::unique_ptr<Kernel>> StatelessSampled(PrepareContext& p) {
  return StatelessSampled(p, kWhat);
}

// The key [1], counter [2] and possibly the algorithm for a seed, input 0.
absl::StatusOr<std::unique_ptr<Kernel>> RandomKeyCounter(PrepareContext& p);
// The algorithm: Philox.
absl::StatusOr<std::unique_ptr<Kernel>> RandomAlgorithm(PrepareContext& p);

// Inputs: logits, the number of samples, a seed.
absl::StatusOr<std::unique_ptr<Kernel>> StatelessMultinomial(PrepareContext& p);
// Shuffles the rows of input 0, by key, counter and algorithm.
absl::StatusOr<std::unique_ptr<Kernel>> StatelessShuffle(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_STATELESS_H_
