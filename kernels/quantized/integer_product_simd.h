// Tiles of products of 8-bit integers, compiled for each instruction set.
#ifndef TENON_KERNELS_QUANTIZED_INTEGER_PRODUCT_SIMD_H_
#define TENON_KERNELS_QUANTIZED_INTEGER_PRODUCT_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// sums[r, c] = start[c] + the sum over k of left[r, k] * right[k, c], modulo 2^32.
struct IntegerTile {
  const void* left = nullptr;     // unsigned, as IntegerLoops::widen writes them
  size_t left_row = 0;            // bytes
  const int8_t* right = nullptr;  // [words][columns of a panel][terms of a word]
  size_t words = 0;
  const int32_t* start = nullptr;
  int32_t* sums = nullptr;
  size_t sums_row = 0;
};

struct IntegerLoops {
  using MultiplyFn = void (*)(const IntegerTile& tile);
  // By rows - 1 and vectors - 1; the columns are those vectors.
  MultiplyFn multiply[6][4] = {};
  size_t most_rows = 0, most_vectors = 0;
  size_t lanes = 0;       // columns of a vector
  size_t word_terms = 0;  // terms are a multiple of these
  size_t left_bytes = 0;  // of a left number
  // Left numbers from n 8-bit ones; `flip`, 0 or 128, is XORed: 128 adds 128 to signed ones.
  void (*widen)(const uint8_t* from, size_t n, uint8_t flip, void* to) = nullptr;

  size_t columns() const { return most_vectors * lanes; }  // of a panel
};
// `vnni`: whether the CPU has AVX-512 VNNI.
const IntegerLoops& FindIntegerLoops(bool vnni);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_INTEGER_PRODUCT_SIMD_H_
