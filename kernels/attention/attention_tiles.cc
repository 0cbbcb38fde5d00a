#include "kernels/attention/attention_tiles.h"

#include "kernels/matmul/tile_config.h"
#include "kernels/matmul/tile_math.h"
#include "primitive_cache/isa.h"

namespace tenon {

#if defined(__x86_64__)

bool HasAttentionTiles() { return AllowsTiles(); }

namespace {

constexpr size_t kRows = TileConfig::kRows, kLanes = kAttentionTileQueries;

TENON_TILES void CallWithTiles(absl::FunctionRef<void()> fn) {
  const TileConfig config;
  fn();
}

// out[2 tiles of rows][2 tiles of queries] (+)= a[rows][terms] * b[terms / 2 pairs][queries], for
// `row_tiles` and `column_tiles`. Rows of a are `a_row` elements apart, those of b and out `row`.
template <size_t row_tiles, size_t column_tiles>
TENON_TILES inline void MultiplyTwoByTwo(const uint16_t* a, size_t a_row, const uint32_t* b,
                                         size_t terms, bool add, float* out, size_t row) {
  constexpr bool kTwoRows = row_tiles == 2, kTwoColumns = column_tiles == 2;
  const size_t a_bytes = a_row * sizeof(uint16_t), bytes = row * sizeof(float);
  float* const second = out + kRows * row;
  if (add) {
    _tile_loadd(0, out, bytes);
    if constexpr (kTwoColumns) _tile_loadd(1, out + kLanes, bytes);
    if constexpr (kTwoRows) _tile_loadd(2, second, bytes);
    if constexpr (kTwoRows && kTwoColumns) _tile_loadd(3, second + kLanes, bytes);
  } else {
    _tile_zero(0);
    if constexpr (kTwoColumns) _tile_zero(1);
    if constexpr (kTwoRows) _tile_zero(2);
    if constexpr (kTwoRows && kTwoColumns) _tile_zero(3);
  }
  for (size_t i = 0; i < terms; i += 2 * kRows) {
    const uint32_t* const pairs = b + i / 2 * row;
    _tile_loadd(4, a + i, a_bytes);
    _tile_loadd(6, pairs, bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kTwoColumns) {
      _tile_loadd(7, pairs + kLanes, bytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTwoRows) {
      _tile_loadd(5, a + kRows * a_row + i, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kTwoRows && kTwoColumns) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, out, bytes);
  if constexpr (kTwoColumns) _tile_stored(1, out + kLanes, bytes);
  if constexpr (kTwoRows) _tile_stored(2, second, bytes);
  if constexpr (kTwoRows && kTwoColumns) _tile_stored(3, second + kLanes, bytes);
}

template <size_t row_tiles>
TENON_TILES inline void MultiplyRows(const uint16_t* a, size_t a_row, const uint32_t* b,
                                     size_t terms, bool add, float* out, size_t vectors) {
  const size_t row = vectors * kLanes;
  size_t c = 0;
  for (; c + 2 <= vectors; c += 2) {
    MultiplyTwoByTwo<row_tiles, 2>(a, a_row, b + c * kLanes, terms, add, out + c * kLanes, row);
  }
  if (c < vectors) {
    MultiplyTwoByTwo<row_tiles, 1>(a, a_row, b + c * kLanes, terms, add, out + c * kLanes, row);
  }
}

// out[rows][queries] (+)= a[rows][terms] * b[terms / 2 pairs][queries]
TENON_TILES void Multiply(const uint16_t* a, size_t a_row, size_t rows, const uint32_t* b,
                          size_t terms, bool add, float* out, size_t vectors) {
  CompilerBarrier();
  size_t r = 0;
  for (; r + 2 * kRows <= rows; r += 2 * kRows) {
    MultiplyRows<2>(a + r * a_row, a_row, b, terms, add, out + r * vectors * kLanes, vectors);
  }
  if (r < rows) {
    MultiplyRows<1>(a + r * a_row, a_row, b, terms, add, out + r * vectors * kLanes, vectors);
  }
  CompilerBarrier();
}

// e^(x - base), 0 where that is below 2^-140.
TENON_TILES inline __m512 Weight(const float* x, __m512 base) {
  const __m512 t = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(x), base), _mm512_set1_ps(kLog2OfE));
  // If t is NaN, so is this.
  return PowerOf2(_mm512_max_ps(_mm512_set1_ps(-160), t));
}

// The numbers of two rows side by side.
TENON_TILES inline void StorePairs(__m512 first, __m512 second, uint32_t* to) {
  alignas(64) static constexpr uint16_t kZip[] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                  21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const auto rounded = _mm512_cvtne2ps_pbh(second, first);
  const __m512i zip = _mm512_load_si512(kZip);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi16(zip, reinterpret_cast<const __m512i&>(rounded)));
}

template <size_t vectors>
TENON_TILES void Weights(const AttentionTiles& t, const float* s, size_t keys, const float* base,
                         float* sums) {
  constexpr size_t kRow = vectors * kLanes;
  __m512 bases[vectors], totals[vectors];
  for (size_t c = 0; c < vectors; ++c) {
    bases[c] = _mm512_loadu_ps(base + c * kLanes);
    totals[c] = _mm512_loadu_ps(sums + c * kLanes);
  }
  size_t k = 0;
  for (; k + 2 <= keys; k += 2) {
#pragma GCC unroll 3
    for (size_t c = 0; c < vectors; ++c) {
      const __m512 first = Weight(s + k * kRow + c * kLanes, bases[c]);
      const __m512 second = Weight(s + (k + 1) * kRow + c * kLanes, bases[c]);
      totals[c] = _mm512_add_ps(totals[c], _mm512_add_ps(first, second));
      StorePairs(first, second, t.weights + k / 2 * kRow + c * kLanes);
    }
  }
  for (; k < t.keys; k += 2) {
    for (size_t c = 0; c < vectors; ++c) {
      __m512 first = _mm512_setzero_ps();
      if (k < keys) {
        first = Weight(s + k * kRow + c * kLanes, bases[c]);
        totals[c] = _mm512_add_ps(totals[c], first);
      }
      StorePairs(first, _mm512_setzero_ps(), t.weights + k / 2 * kRow + c * kLanes);
    }
  }
  for (size_t c = 0; c < vectors; ++c) _mm512_storeu_ps(sums + c * kLanes, totals[c]);
}

TENON_TILES void ScaleRows(const float* factors, size_t vectors, size_t rows, float* o) {
  const __m512 one = _mm512_set1_ps(1);
  bool all_one = true;
  for (size_t c = 0; c < vectors; ++c) {
    const __m512 factor = _mm512_loadu_ps(factors + c * kLanes);
    all_one = all_one && _mm512_cmp_ps_mask(factor, one, _CMP_EQ_OQ) == 0xffff;
  }
  if (all_one) return;
  for (size_t e = 0; e < rows; ++e) {
    for (size_t c = 0; c < vectors; ++c, o += kLanes) {
      const __m512 factor = _mm512_loadu_ps(factors + c * kLanes);
      _mm512_storeu_ps(o, _mm512_mul_ps(_mm512_loadu_ps(o), factor));
    }
  }
}

}  // namespace

void WithAttentionTiles(absl::FunctionRef<void()> fn) { CallWithTiles(fn); }

void AttentionTileScores(const AttentionTiles& t, float* s) {
  Multiply(t.k, t.depth, t.keys, t.q, t.depth, /*add=*/false, s, t.vectors);
}

void AttentionTileWeights(const AttentionTiles& t, const float* s, size_t keys, const float* base,
                          float* sums) {
  if (t.vectors == 3) return Weights<3>(t, s, keys, base, sums);
  if (t.vectors == 2) return Weights<2>(t, s, keys, base, sums);
  Weights<1>(t, s, keys, base, sums);
}

void AttentionTileValues(const AttentionTiles& t, const float* factors, float* o) {
  if (factors != nullptr) ScaleRows(factors, t.vectors, t.width, o);
  Multiply(t.v, t.v_row, t.width, t.weights, t.keys, factors != nullptr, o, t.vectors);
}

#else

bool HasAttentionTiles() { return false; }
void WithAttentionTiles(absl::FunctionRef<void()> fn) { fn(); }
void AttentionTileScores(const AttentionTiles&, float*) {}
void AttentionTileWeights(const AttentionTiles&, const float*, size_t, const float*, float*) {}
void AttentionTileValues(const AttentionTiles&, const float*, float*) {}

#endif

}  // namespace tenon
