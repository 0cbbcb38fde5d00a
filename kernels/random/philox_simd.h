// Philox's blocks, and floats from them, in vector code.
#ifndef TENON_KERNELS_RANDOM_PHILOX_SIMD_H_
#define TENON_KERNELS_RANDOM_PHILOX_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// Blocks whose counters are `step` apart. The low half of the counter must not wrap around between
// the first block and the last of a multiple of kBlocksTogether.
struct PhiloxBlocks {
  uint64_t low = 0, high = 0, step = 1;  // the first counter's halves
  uint32_t key[2] = {};
};
inline constexpr size_t kBlocksTogether = 16;

// `blocks` is a multiple of kBlocksTogether, n of 4 * kBlocksTogether.
struct PhiloxCode {
  void (*words)(const PhiloxBlocks& from, size_t blocks, uint32_t* words) = nullptr;  // 4 of each
  // Uniform in [0, 1).
  void (*uniform)(const uint32_t* words, size_t n, float* out) = nullptr;
  // Two normal numbers of each two words (Box-Muller).
  void (*normal)(const uint32_t* words, size_t n, float* out) = nullptr;
};
PhiloxCode FindPhiloxCode();

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_PHILOX_SIMD_H_
