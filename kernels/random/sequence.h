// The sequence of numbers of a stateful random op.
#ifndef TENON_KERNELS_RANDOM_SEQUENCE_H_
#define TENON_KERNELS_RANDOM_SEQUENCE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "graph/attr_reader.h"
#include "kernels/random/philox.h"

namespace tenon {

// Seeded by the attributes seed and seed2 (randomly if both are 0).
class RandomSequence {
 public:
  static std::shared_ptr<RandomSequence> Make(const AttrReader& attrs) {
    const uint64_t seed = static_cast<uint64_t>(attrs.Int("seed", 0));
    const uint64_t seed2 = static_cast<uint64_t>(attrs.Int("seed2", 0));
    return std::make_shared<RandomSequence>(
        seed == 0 && seed2 == 0 ? Philox::Unpredictable() : Philox::FromSeeds(seed, seed2));
  }
  explicit RandomSequence(const Philox& start) : start_(start) {}

  // A generator of which `samples` 32-bit numbers may be used.
  Philox Take(uint64_t samples) {
    Philox generator = start_;
    generator.Skip(used_.fetch_add((samples + 3) / 4, std::memory_order_relaxed));
    return generator;
  }

  // The same sequence from its start.
  RandomSequence Restarted() const { return RandomSequence(start_); }

 private:
  const Philox start_;
  std::atomic<uint64_t> used_ = 0;
};

// Reserved for each output, whatever the distribution.
inline constexpr uint64_t kRandomSamplesPerOutput = 256;

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_SEQUENCE_H_
