#include "kernels/matmul/tile_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "env/round_up.h"
#include "kernels/matmul/tile_config.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

constexpr size_t kParts = 3;
constexpr size_t kTileElements = kTileRows * kTileTerms;
constexpr size_t kHalf = kTileColumns / 2;  // the columns of one tile
// Weights are split this many tiles of terms ahead of their multiplication; both pieces about fit
// the first-level cache.
constexpr size_t kStep = 4;
constexpr size_t kWeightTerms = 2 * kParts * kTileElements;  // of kTileTerms terms in parts

size_t TermTiles(size_t terms) { return (terms + kTileTerms - 1) / kTileTerms; }

}  // namespace

size_t TileRowsBytes(size_t rows, size_t terms) {
  return RoundUp(rows, kTileRows) * RoundUp(terms, kTileTerms) * kParts * sizeof(uint16_t);
}

size_t TileProductScratch(size_t rows) {
  return 2 * kStep * kWeightTerms * sizeof(uint16_t) +
         RoundUp(rows, 2 * kTileRows) * kTileColumns * sizeof(float);
}

bool HasTinyColumn(const float* w, size_t terms, size_t columns, size_t width, size_t panel) {
  constexpr size_t kTogether = 16;
  for (size_t j = 0; j < columns; j += kTogether) {
    const float* at = w + j / width * panel + j % width;
    float largest[kTogether] = {};
    for (size_t k = 0; k < terms; ++k, at += width) {
      for (size_t i = 0; i < kTogether; ++i) largest[i] = std::max(largest[i], std::abs(at[i]));
    }
    for (size_t i = 0; i < std::min(kTogether, columns - j); ++i) {
      if (largest[i] != 0 && largest[i] < kLeastTileWeight) return true;
    }
  }
  return false;
}

#if defined(__x86_64__)

namespace {

TENON_TILES inline __m512i UpperHalves(__m512i x) {
  return _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000)));
}
TENON_TILES inline __m512i Subtract(__m512i x, __m512i y) {
  return _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y)));
}
// The first n of 16 numbers, as bits, and zeros.
TENON_TILES inline __m512i LoadBits(const float* x, size_t n) {
  return _mm512_castps_si512(_mm512_maskz_loadu_ps(FirstLanes(n), x));
}

// The weights of up to kStep * kTileTerms terms and kTileColumns columns, split piece by piece into
// [kTileTerms terms][part][half of the columns][pair of terms][column][term].
class WeightSplitter {
 public:
  // `second` (columns 16 to 31) may be null. Also prefetches as many rows starting at `ahead`.
  void Start(const float* first, const float* second, const float* ahead, size_t width,
             size_t terms, uint16_t* to) {
    w_[0] = first;
    w_[1] = second;
    ahead_ = ahead;
    width_ = width;
    left_ = terms;
    to_ = to;
    pairs_ = TermTiles(terms) * kTileTerms / 2;
  }
  size_t pairs() const { return pairs_; }

  // Splits at most n pairs of terms.
  TENON_TILES inline void Split(size_t n) {
    for (n = std::min(n, pairs_); n > 0; --n) {
      const size_t terms = std::min<size_t>(left_, 2);
      if (terms == 2) {
        for (size_t i = 0; i < 2; ++i, ahead_ += width_) {
          __builtin_prefetch(ahead_, 0, 2);
          __builtin_prefetch(ahead_ + kHalf, 0, 2);
        }
#pragma GCC unroll 2
        for (size_t half = 0; half < 2; ++half) {
          if (half == 1 && w_[1] == nullptr) break;
          const float* const w = w_[half];
          Store(_mm512_loadu_si512(w), _mm512_loadu_si512(w + width_), half);
          w_[half] += 2 * width_;
        }
      } else {
        for (size_t half = 0; half < 2 && w_[half] != nullptr; ++half) {
          const __m512i zero = _mm512_setzero_si512();
          Store(terms == 1 ? _mm512_loadu_si512(w_[half]) : zero, zero, half);
          w_[half] += terms * width_;
        }
      }
      left_ -= terms;
      --pairs_;
      to_ += 2 * kHalf;
      if (pairs_ % (kTileTerms / 2) == 0) to_ += kWeightTerms - kTileElements;
    }
  }

 private:
  // Parts are cut off, not rounded: that takes fewer instructions, and the last part is exact.
  TENON_TILES inline void Store(__m512i even, __m512i odd, size_t half) {
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
#pragma GCC unroll 3
    for (size_t part = 0; part < kParts; ++part) {
      // The bits of `odd` where those of `upper` are set.
      constexpr int kSelect = 0xCA;
      const __m512i both =
          _mm512_ternarylogic_epi32(upper, odd, _mm512_srli_epi32(even, 16), kSelect);
      _mm512_store_si512(to_ + (part * 2 + half) * kTileElements, both);
      if (part + 1 == kParts) break;
      even = Subtract(even, UpperHalves(even));
      odd = Subtract(odd, UpperHalves(odd));
    }
  }

  const float* w_[2] = {};
  const float* ahead_ = nullptr;
  size_t width_ = 0, left_ = 0, pairs_ = 0;
  uint16_t* to_ = nullptr;
};

// sums[row_tiles * kTileRows, column_tiles * kHalf] (+)= `steps` tiles of terms. Small products
// come first, so that they are added to small sums. Also splits `pairs` pairs of terms of the next
// weights after each tile of terms.
template <size_t row_tiles, size_t column_tiles>
TENON_TILES void MultiplyTile(const uint16_t* a, size_t a_tile, const uint16_t* w, size_t steps,
                              bool add, float* sums, WeightSplitter& next, size_t pairs) {
  constexpr size_t kRowBytes = kTileColumns * sizeof(float);
  constexpr size_t kSumTile = kTileRows * kTileColumns;
  constexpr bool kRows = row_tiles == 2, kColumns = column_tiles == 2;
  // Tiles 0 to 3 are sums, 4 and 5 rows, 6 and 7 weights.
  if (add) {
    _tile_loadd(0, sums, kRowBytes);
    if constexpr (kColumns) _tile_loadd(1, sums + kHalf, kRowBytes);
    if constexpr (kRows) _tile_loadd(2, sums + kSumTile, kRowBytes);
    if constexpr (kRows && kColumns) _tile_loadd(3, sums + kSumTile + kHalf, kRowBytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const auto load_a = [&](size_t step, size_t part) TENON_TILES {
    const uint16_t* const from = a + (step * kParts + part) * kTileElements;
    _tile_loadd(4, from, kCacheLine);
    if constexpr (kRows) _tile_loadd(5, from + a_tile, kCacheLine);
  };
  const auto load_w = [&](size_t step, size_t part) TENON_TILES {
    const uint16_t* const from = w + step * kWeightTerms + part * 2 * kTileElements;
    _tile_loadd(6, from, kCacheLine);
    if constexpr (kColumns) _tile_loadd(7, from + kTileElements, kCacheLine);
  };
  const auto multiply = [&]() TENON_TILES {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kColumns) _tile_dpbf16ps(1, 4, 7);
    if constexpr (kRows) _tile_dpbf16ps(2, 5, 6);
    if constexpr (kRows && kColumns) _tile_dpbf16ps(3, 5, 7);
  };
  for (size_t k = 0; k < steps; ++k) {
    load_a(k, 2);
    load_w(k, 0);
    multiply();
    next.Split(pairs);
    load_a(k, 1);
    multiply();
    next.Split(pairs);
    load_w(k, 1);
    multiply();
    next.Split(pairs);
    load_a(k, 0);
    multiply();
    next.Split(pairs);
    load_w(k, 2);
    multiply();
    next.Split(pairs);
  }
  for (size_t k = 0; k < steps; ++k) {
    load_a(k, 0);
    load_w(k, 0);
    multiply();
    next.Split(pairs);
  }
  _tile_stored(0, sums, kRowBytes);
  if constexpr (kColumns) _tile_stored(1, sums + kHalf, kRowBytes);
  if constexpr (kRows) _tile_stored(2, sums + kSumTile, kRowBytes);
  if constexpr (kRows && kColumns) _tile_stored(3, sums + kSumTile + kHalf, kRowBytes);
}

TENON_TILES void StoreSums(const TileProduct& p, const float* sums, size_t column) {
  const size_t columns = p.columns - column;
  const __mmask16 masks[2] = {FirstLanes(columns), FirstLanes(columns - std::min(columns, kHalf))};
  const __m512 zero = _mm512_setzero_ps(), six = _mm512_set1_ps(6);
  __m512 bias[2] = {zero, zero};
  for (size_t half = 0; half < 2 && p.finish.bias != nullptr; ++half) {
    bias[half] = _mm512_maskz_loadu_ps(masks[half], p.finish.bias + column + half * kHalf);
  }
  float* out = p.out + column;
  const float* addend = p.finish.addend == nullptr ? nullptr : p.finish.addend + column;
  for (size_t i = 0; i < p.a.rows; ++i, sums += kTileColumns, out += p.out_row) {
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; ++half) {
      const size_t at = half * kHalf;
      __m512 x = _mm512_loadu_ps(sums + at);
      if (p.add) x = _mm512_add_ps(_mm512_maskz_loadu_ps(masks[half], out + at), x);
      if (p.finish.bias != nullptr) x = _mm512_add_ps(x, bias[half]);
      if (addend != nullptr) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(masks[half], addend + at));
      // If one is NaN, these return the second.
      if (p.finish.clamp_low) x = _mm512_max_ps(zero, x);
      if (p.finish.clamp_high) x = _mm512_min_ps(six, x);
      _mm512_mask_storeu_ps(out + at, masks[half], x);
    }
    if (addend != nullptr) addend += p.out_row;
  }
}

TENON_TILES void SplitRowsOnTiles(const float* a, size_t a_row, size_t first, size_t terms,
                                  const TileRows& to, uint32_t* largest) {
  const size_t steps = TermTiles(to.terms), tile = steps * kParts * kTileElements;
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  alignas(kCacheLine) uint16_t odd[kTileTerms];
  for (size_t i = 0; i < kTileTerms; ++i) odd[i] = static_cast<uint16_t>(2 * i + 1);
  const __m512i upper_halves = _mm512_load_si512(odd);
  for (size_t i = 0; i < RoundUp(to.rows, kTileRows); ++i) {
    uint16_t* at = to.parts + i / kTileRows * tile + first / kTileTerms * kParts * kTileElements +
                   i % kTileRows * kTileTerms;
    const float* const row = a + i * a_row;
    const size_t valid = i < to.rows ? terms : 0;
    __m512i magnitudes = _mm512_setzero_si512();
    for (size_t k = 0; k < terms; k += kTileTerms, at += kParts * kTileElements) {
      const size_t left = valid - std::min(valid, k);
      __m512i x[2] = {
          LoadBits(row + k, left),
          LoadBits(row + k + kHalf, left - std::min(left, kHalf)),
      };
#pragma GCC unroll 2
      for (const __m512i half : x) {
        magnitudes = _mm512_max_epu32(magnitudes, _mm512_and_si512(magnitude, half));
      }
#pragma GCC unroll 3
      for (size_t part = 0; part < kParts; ++part) {
        // Rounded to nearest, away from zero; the last part is exact.
        __m512i rounded[2] = {x[0], x[1]};
        if (part + 1 < kParts) {
          for (__m512i& half : rounded) half = _mm512_add_epi32(half, _mm512_set1_epi32(0x8000));
        }
        _mm512_store_si512(at + part * kTileElements,
                           _mm512_permutex2var_epi16(rounded[0], upper_halves, rounded[1]));
        if (part + 1 == kParts) break;
        for (size_t half = 0; half < 2; ++half)
          x[half] = Subtract(x[half], UpperHalves(rounded[half]));
      }
    }
    if (i < to.rows) largest[i] = std::max(largest[i], _mm512_reduce_max_epu32(magnitudes));
  }
}

TENON_TILES void Multiply(const TileProduct& p) {
  const TileConfig config;
  const size_t steps = TermTiles(p.a.terms), tile = steps * kParts * kTileElements;
  const size_t row_tiles = (p.a.rows + kTileRows - 1) / kTileRows;
  const size_t parts = (steps + kStep - 1) / kStep;
  uint16_t* const weights = static_cast<uint16_t*>(p.scratch);
  float* const sums = reinterpret_cast<float*>(weights + 2 * kStep * kWeightTerms);
  const size_t strips = (p.columns + kTileColumns - 1) / kTileColumns;
  // Part i of the weights: all terms of the first columns, then of the next ones.
  const auto at = [&](size_t i, size_t half) {
    const size_t j = p.column + i / parts * kTileColumns + half;
    return p.w + j / p.width * p.panel + i % parts * kStep * kTileTerms * p.width + j % p.width;
  };
  const auto start = [&](WeightSplitter& splitter, size_t i) {
    const bool two = p.columns - i / parts * kTileColumns > kHalf;
    splitter.Start(at(i, 0), two ? at(i, kHalf) : nullptr,
                   at(std::min(i + 2, strips * parts - 1), 0), p.width,
                   std::min(kStep * kTileTerms, p.a.terms - i % parts * kStep * kTileTerms),
                   weights + i % 2 * kStep * kWeightTerms);
  };
  WeightSplitter splitter;
  start(splitter, 0);
  splitter.Split(splitter.pairs());
  for (size_t i = 0; i < strips * parts; ++i) {
    CompilerBarrier();
    const size_t column = i / parts * kTileColumns, step = i % parts * kStep;
    const size_t columns = std::min(kTileColumns, p.columns - column);
    const size_t here = std::min(kStep, steps - step);
    const uint16_t* const w = weights + i % 2 * kStep * kWeightTerms;
    size_t pairs = 0;
    if (i + 1 < strips * parts) {
      start(splitter, i + 1);
      const size_t pieces = 6 * here * ((row_tiles + 1) / 2);
      pairs = (splitter.pairs() + pieces - 1) / pieces;
    }
    for (size_t r = 0; r < row_tiles; r += 2) {
      const uint16_t* const a = p.a.parts + r * tile + step * kParts * kTileElements;
      float* const to = sums + r * kTileRows * kTileColumns;
      const auto multiply = row_tiles - r == 1
                                ? (columns > kHalf ? MultiplyTile<1, 2> : MultiplyTile<1, 1>)
                                : (columns > kHalf ? MultiplyTile<2, 2> : MultiplyTile<2, 1>);
      multiply(a, tile, w, here, step > 0, to, splitter, pairs);
    }
    splitter.Split(splitter.pairs());
    CompilerBarrier();
    if (i % parts + 1 == parts) {
      StoreSums(p, sums, column);
    }
  }
}

}  // namespace

bool HasTileProducts() {
  static const bool has = AllowsTiles();
  return has;
}
void SplitRows(const float* a, size_t a_row, size_t first, size_t terms, const TileRows& to,
               uint32_t* largest) {
  SplitRowsOnTiles(a, a_row, first, terms, to, largest);
}
void MultiplyTiles(const TileProduct& p) { Multiply(p); }

#else

bool HasTileProducts() { return false; }
void SplitRows(const float*, size_t, size_t, size_t, const TileRows&, uint32_t*) {}
void MultiplyTiles(const TileProduct&) {}

#endif

}  // namespace tenon
