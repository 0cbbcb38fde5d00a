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

  Block Next() {
    constexpr uint32_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
    Block x = counter_;
    Key key = key_;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t a = uint64_t{kMultiplier[0]} * x[0], b = uint64_t{kMultiplier[1]} * x[2];
      x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<uint32_t>(a)};
      key = {key[0] + kWeyl[0], key[1] + kWeyl[1]};
    }
    Skip(1);
    return x;
  }
  void Skip(uint64_t blocks) {
    const uint64_t low = low_counter(), sum = low + blocks;
    counter_[0] = static_cast<uint32_t>(sum);
    counter_[1] = static_cast<uint32_t>(sum >> 32);
    if (sum < low && ++counter_[2] == 0) ++counter_[3];
  }

  uint64_t low_counter() const { return counter_[0] | uint64_t{counter_[1]} << 32; }
  uint64_t high_counter() const { return counter_[2] | uint64_t{counter_[3]} << 32; }
  const Key& key() const { return key_; }

  static constexpr int kRounds = 10;
  static constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};  // added to the key in each

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
// They do not depend on the number of threads.
void FillRandom(Distribution distribution, DType dtype, const Philox& generator, void* out,
                int64_t n, int threads);
// n integers: all bits if range is 0, otherwise low + bits modulo range.
void FillRandomInts(DType dtype, const Philox& generator, uint64_t low, uint64_t range, void* out,
                    int64_t n, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_PHILOX_H_
