// Philox-4x32-10, a counter-based generator (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3"), and TensorFlow's distributions on it, with identical numbers.
//
//   Philox generator(counter, key);
//   FillRandom(Distribution::kNormal, DType::kFloat, generator, out, n);
#ifndef TENON_KERNELS_RANDOM_PHILOX_H_
#define TENON_KERNELS_RANDOM_PHILOX_H_

#include <array>
#include <cstdint>

#include "graph/dtype.h"

namespace tenon {

// Numbers in tf.random.Algorithm: this algorithm, and any that suits the device, on CPUs this one.
inline constexpr int32_t kPhiloxAlgorithm = 1;
inline constexpr int32_t kAnyAlgorithm = 3;
inline bool IsPhilox(int64_t algorithm) {
  return algorithm == kPhiloxAlgorithm || algorithm == kAnyAlgorithm;
}

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;
  using Key = std::array<uint32_t, 2>;

  Philox(const Block& counter, const Key& key) : counter_(counter), key_(key) {}
  // The state of tf.random.Generator.
  static Philox Of(uint64_t counter_low, uint64_t counter_high, uint64_t key);
  // Seeded from an op's attributes seed and seed2.
  static Philox FromSeeds(uint64_t seed, uint64_t seed2);
  // Seeded from the operating system's random numbers.
  static Philox Unpredictable();

  Block Next();
  void Skip(uint64_t blocks);

 private:
  Block counter_;
  Key key_;
};

// A generator's numbers, one by one.
class PhiloxStream {
 public:
  explicit PhiloxStream(const Philox& generator) : generator_(generator) {}
  uint32_t Next();
  uint64_t Next64();    // the low half first
  float NextFloat();    // uniform in [0, 1)
  double NextDouble();  // the same
  // Uniform in [0, n), without bias: numbers that would favor some results are drawn again.
  uint32_t NextBelow(uint32_t n);
  uint64_t NextBelow(uint64_t n);

 private:
  Philox generator_;
  Philox::Block block_{};
  int used_ = 4;
};

enum class Distribution { kUniform, kNormal, kTruncatedNormal };

// n floating-point numbers: uniform in [0, 1), or normal with deviation 1 (truncated: within 2).
void FillRandom(Distribution distribution, DType dtype, const Philox& generator, void* out,
                int64_t n);
// n integers: all bits if range is 0, otherwise low + bits modulo range.
void FillRandomInts(DType dtype, const Philox& generator, uint64_t low, uint64_t range, void* out,
                    int64_t n);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_PHILOX_H_
