// Products of floats on the matrix tiles of x86 CPUs (AMX), which multiply bfloat16.
//
// A float is the exact sum of three bfloat16 values, its parts: the first has its upper 8 bits, the
// others what is left. Of the nine products of the parts of two floats, the six largest are summed,
// in float; the other three are together less than 2^-22 of the whole. So the result is as exact as
// that of float instructions, and faster: tiles multiply 16 times as many numbers.
#ifndef TENON_KERNELS_MATMUL_TILE_PRODUCT_H_
#define TENON_KERNELS_MATMUL_TILE_PRODUCT_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tenon {

inline constexpr size_t kTileRows = 16;
inline constexpr size_t kTileTerms = 32;
// Columns that are computed together.
inline constexpr size_t kTileColumns = 32;
// Terms that MultiplyTiles() sums in one accumulator: those of one TileRows. The rounding error of
// such a sum is that of about 180 terms added one by one in float.
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

// Splits the terms [first, first + terms) of all rows; row i is at a + i * a_row. `first` is a
// multiple of kTileTerms. Raises largest[i] to the row's largest magnitude, as a bit pattern.
void SplitRows(const float* a, size_t a_row, size_t first, size_t terms, const TileRows& to,
               uint32_t* largest);

// Up to the first, products with weights of at most FiniteGuard::kLimit do not overflow. With a
// row and a column of weights that have a number of at least the other two, no product of their
// parts that matters is denormal; tiles read and write denormal numbers as 0.
inline constexpr float kLargestTileValue = 1e20f;
inline constexpr float kLeastTileValue = 1e-10f, kLeastTileWeight = 1e-20f;

// Whether the products of a row with this largest magnitude are not to be used: it has a NaN, an
// infinity or a number that is too large, or only small ones that are not all 0.
constexpr bool IsInexactOnTiles(uint32_t largest) {
  return largest != 0 && (largest < std::bit_cast<uint32_t>(kLeastTileValue) ||
                          largest > std::bit_cast<uint32_t>(kLargestTileValue));
}

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

// Whether some column of weights is not all 0, yet has no number of at least kLeastTileWeight.
bool HasTinyColumn(const float* w, size_t terms, size_t columns, size_t width, size_t panel);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_TILE_PRODUCT_H_
