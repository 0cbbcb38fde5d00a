// The matrix tiles (AMX) of a thread: their shapes, and the instruction sets of code that uses
// them.
#ifndef TENON_KERNELS_MATMUL_TILE_CONFIG_H_
#define TENON_KERNELS_MATMUL_TILE_CONFIG_H_

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "env/round_up.h"

// Code for CPUs with tiles; what is inlined must have the same instruction sets.
#define TENON_TILES \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace tenon {

// GCC's intrinsics for tiles do not tell it what memory they read and write: its own stores and
// loads must not move past them.
inline void CompilerBarrier() { asm volatile("" ::: "memory"); }

TENON_TILES inline __mmask16 FirstLanes(size_t n) {
  return n >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1u << n) - 1);
}

// Tiles 0 to 3 are sums of two tiles of rows by two of columns, 4 and 5 rows, 6 and 7 weights. All
// have rows of 64 bytes. The destructor restores the thread's earlier configuration, not the
// contents of its tiles.
class TileConfig {
 public:
  static constexpr size_t kRows = 16;  // of a whole tile

  TENON_TILES TileConfig() {
    _tile_storeconfig(before_);
    SetRows(kRows, kRows);
  }
  TENON_TILES ~TileConfig() {
    if (before_[0] == 0) {  // its palette: none
      _tile_release();
    } else {
      _tile_loadconfig(before_);
    }
  }
  TileConfig(const TileConfig&) = delete;
  TileConfig& operator=(const TileConfig&) = delete;

  // How many rows the first tile of rows has, and the second one; at least 1. Multiplying takes
  // time in proportion. Tiles lose their contents.
  TENON_TILES void SetRows(size_t first, size_t second) {
    if (first == first_ && second == second_) return;
    first_ = first;
    second_ = second;
    const Config config(first, second);
    CompilerBarrier();
    _tile_loadconfig(&config);
  }

 private:
  struct alignas(kCacheLine) Config {
    Config(size_t first, size_t second) {
      std::fill_n(row_bytes, 8, static_cast<uint16_t>(kCacheLine));
      std::fill_n(rows, 8, static_cast<uint8_t>(kRows));
      for (size_t tile : {0, 1, 4}) rows[tile] = static_cast<uint8_t>(first);
      for (size_t tile : {2, 3, 5}) rows[tile] = static_cast<uint8_t>(second);
    }
    uint8_t palette = 1, start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t rows[16] = {};
  };
  size_t first_ = 0, second_ = 0;
  alignas(kCacheLine) uint8_t before_[kCacheLine];
};

}  // namespace tenon

#endif  // defined(__x86_64__)

#endif  // TENON_KERNELS_MATMUL_TILE_CONFIG_H_
