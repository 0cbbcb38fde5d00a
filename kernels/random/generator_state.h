// Random numbers from generators whose state is a variable, int64 [counter low, counter high, key];
// in the first version of StatefulStandardNormal, the algorithm and then these.
// InvalidArgument at Run for an algorithm other than Philox, or a state with fewer elements.
#ifndef TENON_KERNELS_RANDOM_GENERATOR_STATE_H_
#define TENON_KERNELS_RANDOM_GENERATOR_STATE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/random/philox.h"

namespace tenon {

inline constexpr int64_t kGeneratorStateSize = 3;

// Inputs: the variable, the algorithm (int32 or int64), the number of outputs to skip. Optional
// output: the previous state.
absl::StatusOr<std::unique_ptr<Kernel>> SkipGenerator(PrepareContext& p);

// Where the algorithm is: an input behind the variable, or the state's first element.
enum class AlgorithmIn { kInput, kState };

// Inputs: the variable, perhaps the algorithm, the output's shape. Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> DrawFloats(PrepareContext& p, Distribution distribution,
                                                   AlgorithmIn algorithm);

// Binomial numbers. Inputs: the variable, the algorithm, the output's shape, counts, probabilities.
absl::StatusOr<std::unique_ptr<Kernel>> DrawBinomials(PrepareContext& p);

// All bits, or between two bounds. Inputs: the variable, the algorithm, the output's shape, and the
// bounds if there are any. 32 and 64 bits.
absl::StatusOr<std::unique_ptr<Kernel>> DrawInts(PrepareContext& p);

// DrawFloats as a kernel factory.
template <Distribution kDistribution, AlgorithmIn kAlgorithm = AlgorithmIn::kInput>
absl::StatusOr<std::unique_ptr<Kernel>> DrawFloats(PrepareContext& p) {
  return DrawFloats(p, kDistribution, kAlgorithm);
}

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_GENERATOR_STATE_H_
