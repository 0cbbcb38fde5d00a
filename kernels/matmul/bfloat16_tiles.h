// Products of bfloat16 on the matrix tiles of x86 CPUs (AMX), with sums in float.
//
// Each row of the left matrix is a sequence of `taps` pieces of `channels` terms; a piece is at a
// fixed distance from the row's beginning, so that the windows of an image need not be copied.
#ifndef TENON_KERNELS_MATMUL_BFLOAT16_TILES_H_
#define TENON_KERNELS_MATMUL_BFLOAT16_TILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "primitive_cache/primitive.h"

namespace tenon {

// Terms and columns that tiles multiply together.
inline constexpr size_t kBfloat16TileTerms = 32, kBfloat16TileColumns = 32;

// Weights [taps][channels][columns] in the order in which tiles read them: strips of
// kBfloat16TileColumns columns; of each tap, kBfloat16TileTerms channels at a time, filled up with
// zeros.
struct Bfloat16Strips {
  size_t taps = 1, channels = 0, columns = 0;
  bool transposed = false;  // they lie as [columns][channels], with one tap

  size_t steps() const { return (channels + kBfloat16TileTerms - 1) / kBfloat16TileTerms; }
  size_t strips() const { return (columns + kBfloat16TileColumns - 1) / kBfloat16TileColumns; }
  size_t strip_bytes() const {
    return taps * steps() * kBfloat16TileTerms * kBfloat16TileColumns * sizeof(uint16_t);
  }
};
std::shared_ptr<const PackedLayout> Bfloat16StripLayout(const Bfloat16Strips& weights, int threads);

enum class Bfloat16Last { kNothing, kRelu, kRelu6, kSwish, kGeluExact, kGeluApproximate };

// What is done with sums before they are rounded and stored, in this order. Pointers, which may be
// null, are to the first column of all; an addend has the rows of the result.
struct Bfloat16Finish {
  const uint16_t* bias = nullptr;
  const uint16_t* addend = nullptr;
  Bfloat16Last last = Bfloat16Last::kNothing;  // NaN stays NaN
};

// out[rows, columns] = finish(a[rows, taps * channels] * w)
struct Bfloat16Product {
  // Row i is at a + i * a_row, its pieces at the offsets `taps` from there (elements). Each has
  // strips.steps() * kBfloat16TileTerms terms; those beyond `channels` are finite numbers.
  const uint16_t* a = nullptr;
  size_t a_row = 0, rows = 0;
  // The result has no other rows: vector code may compute it, which sums in another order.
  bool only_row = false;
  const size_t* taps = nullptr;
  // If not null: rows of one piece are copied there first, in the order in which tiles read them.
  // They have only their channels then, and may lie anywhere: row i at a + a_rows[i], if that is
  // not null.
  uint16_t* packed = nullptr;
  const size_t* a_rows = nullptr;
  const char* weights = nullptr;
  Bfloat16Strips strips;
  size_t first_strip = 0, end_strip = 0;
  // The first row of the result; or, if not null, the row of each one, -1: it is not stored.
  size_t out_first = 0;
  const int32_t* out_rows = nullptr;
  uint16_t* out = nullptr;  // the whole result
  Bfloat16Finish finish;
};

// Only where AllowsTiles() (primitive_cache/isa.h). Multiplies strip by strip. Rows are read once
// for each strip, so they should fit a cache.
void MultiplyBfloat16Tiles(const Bfloat16Product& p);
// The size of `packed`.
size_t PackedBfloat16Elements(const Bfloat16Strips& strips, size_t rows);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_BFLOAT16_TILES_H_
