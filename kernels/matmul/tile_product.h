// Products of floats on the matrix tiles of x86 CPUs (AMX), which multiply bfloat16.
//
// A float is the exact sum of three bfloat16 values, its parts: the first has its upper 8 bits, the
// others what is left. Of the nine products of the parts of two floats, the six largest are summed,
// in float; the other three are together less than 2^-23 of the whole. So the result is as exact as
// that of float instructions, and faster: tiles multiply 16 times as many numbers.
#ifndef TENON_KERNELS_MATMUL_TILE_PRODUCT_H_
#define TENON_KERNELS_MATMUL_TILE_PRODUCT_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

inline constexpr size_t kTileRows = 16;
inline constexpr size_t kTileTerms = 32;
// Columns that are computed together.
inline constexpr size_t kTileColumns = 32;
// Terms that MultiplyTiles() sums in one accumulator: those of one TileRows. Their sum has the
// rounding error of a sixth as many in float instructions.
inline constexpr size_t kMostTileTerms = 1024;

// Whether the CPU has tiles and this process may use them.
bool HasTileProducts();

// Rows of floats in parts: [tile of kTileRows rows][kTileTerms terms][part][row][term]. Rows and
// terms are filled up to whole tiles with zeros.
struct TileRows {
  uint16_t* parts = nullptr;
  size_t rows = 0, terms = 0;
};
size_t TileRowsBytes(size_t rows, size_t terms);

// Magnitudes that are split and multiplied without overflow by numbers up to FiniteGuard::kLimit,
// and without losing parts, which tiles read as zero if they are denormal.
inline constexpr float kLargestTileValue = 1e20f;
inline constexpr float kLeastTileValue = 1e-30f;

// Splits the terms [first, first + terms) of all rows; row i is at a + i * a_row. `first` is a
// multiple of kTileTerms. Sets inexact[i], and does not clear it otherwise, for rows whose values
// are too large, NaN or infinite, or small without being all 0; their products are not to be used.
void SplitRows(const float* a, size_t a_row, size_t first, size_t terms, const TileRows& to,
               uint8_t* inexact);

// What is done with results before they are stored, in this order. An addend is at the result's
// place in a matrix of the same rows; both pointers, which may be null, are to the first column.
struct TileFinish {
  const float* bias = nullptr;
  const float* addend = nullptr;
  bool clamp_low = false, clamp_high = false;  // at 0, at 6; NaN stays
};

// out[rows, columns] (+)= a[rows, terms] * w[terms, column + columns], as BlockedProduct
// (blocked_product_simd.h) has it. `column` is a multiple of kTileColumns, `width` of 16; weights
// are at most FiniteGuard::kLimit.
struct TileProduct {
  TileRows a;
  const float* w = nullptr;
  size_t width = 0, panel = 0;
  size_t column = 0, columns = 0;
  bool add = false;
  float* out = nullptr;
  size_t out_row = 0;
  TileFinish finish;
  void* scratch = nullptr;  // TileProductScratch(rows) bytes, on a cache line
};
size_t TileProductScratch(size_t rows);
void MultiplyTiles(const TileProduct& p);

// Whether a column of weights has a nonzero number, but none that keeps its parts.
bool HasTinyColumn(const float* w, size_t terms, size_t columns, size_t width, size_t panel);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_TILE_PRODUCT_H_
