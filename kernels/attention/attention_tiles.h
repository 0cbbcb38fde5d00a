// The products of attention_simd.cc on the matrix tiles of x86 CPUs (AMX), for bfloat16. Scores and
// sums are float, and so is the softmax; its weights are rounded to bfloat16.
#ifndef TENON_KERNELS_ATTENTION_ATTENTION_TILES_H_
#define TENON_KERNELS_ATTENTION_ATTENTION_TILES_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace tenon {

// Queries side by side in a tile; what depth, keys and columns of values are filled up to with
// zeros.
inline constexpr size_t kAttentionTileQueries = 16;
inline constexpr size_t kAttentionTileDepth = 32, kAttentionTileKeys = 32, kAttentionTileWidth = 16;

// Whether this process may use tiles.
bool HasAttentionTiles();

// Calls fn, in which this thread may call the functions below.
void WithAttentionTiles(absl::FunctionRef<void()> fn);

// `vectors` tiles of queries by a block of keys. Matrices of pairs are those whose elements are two
// bfloat16 numbers.
struct AttentionTiles {
  size_t vectors = 0;
  size_t depth = 0, keys = 0, width = 0;  // filled up
  const uint16_t* k = nullptr;            // [keys][depth]
  const uint32_t* q = nullptr;            // [depth / 2 pairs][queries]
  const uint16_t* v = nullptr;            // [width][v_row], the keys in a row
  size_t v_row = 0;
  uint32_t* weights = nullptr;  // [keys / 2 pairs][queries]
};

// s[key][query] = sum over d of k * q
void AttentionTileScores(const AttentionTiles& t, float* s);

// weights = e^(s - base) for the first `keys` keys, 0 for the others; adds them to sums. `base` and
// `sums` are by query.
void AttentionTileWeights(const AttentionTiles& t, const float* s, size_t keys, const float* base,
                          float* sums);

// o[column][query] = o * factor + sum over keys of v * weights. A factor for each query; null: o is
// not read.
void AttentionTileValues(const AttentionTiles& t, const float* factors, float* o);

}  // namespace tenon

#endif  // TENON_KERNELS_ATTENTION_ATTENTION_TILES_H_
