// Tiles of products of narrow numbers, which are added to sums of 4 bytes; compiled for each
// instruction set.
#ifndef TENON_KERNELS_CONTRACTION_NARROW_PRODUCT_SIMD_H_
#define TENON_KERNELS_CONTRACTION_NARROW_PRODUCT_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

enum class NarrowForm {
  kIntegers,      // of 8 bits: unsigned ones on the left, signed ones on the right
  kIntegersVnni,  // the same by AVX-512 VNNI
  kBfloat16,      // by AVX-512 BF16
};

// sums[r, c] = start[c] + the sum over k of left[r, k] * right[k, c]. Sums of integers are exact
// modulo 2^32; those of bfloat16 are floats, whose bits are stored.
struct NarrowTile {
  const void* left = nullptr;   // as NarrowLoops::widen writes them
  size_t left_row = 0;          // bytes
  const void* right = nullptr;  // [words][columns of a panel][terms of a word]
  size_t words = 0;
  const int32_t* start = nullptr;
  int32_t* sums = nullptr;
  size_t sums_row = 0;
};

// Sums of the rows [row, row + rows) and columns [column, column + columns) of a result, `sums_row`
// apart.
struct NarrowSums {
  const int32_t* sums = nullptr;
  size_t sums_row = 0;
  size_t row = 0, rows = 0, column = 0, columns = 0;
};

struct NarrowLoops {
  using MultiplyFn = void (*)(const NarrowTile& tile);
  // By rows - 1 and vectors - 1; the columns are those vectors.
  MultiplyFn multiply[6][4] = {};
  size_t most_rows = 0, most_vectors = 0;
  size_t lanes = 0;       // columns of a vector
  size_t word_terms = 0;  // terms are a multiple of these
  size_t left_bytes = 0;  // of a left number
  // Left numbers from n 8-bit integers; `flip`, 0 or 128, is XORed: 128 adds 128 to signed ones.
  // Null for bfloat16, which is not widened.
  void (*widen)(const uint8_t* from, size_t n, uint8_t flip, void* to) = nullptr;

  size_t columns() const { return most_vectors * lanes; }  // of a panel
};
// Null if the target being used has no such loops. The CPU must have the instructions of the form.
const NarrowLoops* FindNarrowLoops(NarrowForm form);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_NARROW_PRODUCT_SIMD_H_
