// Threefry-2x32-20, a counter-based generator (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3").
#ifndef TENON_KERNELS_RANDOM_THREEFRY_H_
#define TENON_KERNELS_RANDOM_THREEFRY_H_

#include <array>
#include <cstdint>

namespace tenon {

// The number of this algorithm in tf.random.Algorithm.
inline constexpr int32_t kThreefryAlgorithm = 2;

// The two numbers that belong to a value of the counter.
std::array<uint32_t, 2> Threefry(uint64_t counter, uint64_t key);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_THREEFRY_H_
