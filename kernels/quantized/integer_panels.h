// Weights of 8-bit integers packed for kernels/quantized/integer_product_simd.h.
#ifndef TENON_KERNELS_QUANTIZED_INTEGER_PANELS_H_
#define TENON_KERNELS_QUANTIZED_INTEGER_PANELS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "primitive_cache/primitive.h"

namespace tenon {

// `groups` matrices of `terms` x `columns`. An element of the plain weights lies at
// group * columns * column_stride + term * term_stride + column * column_stride.
struct IntegerMatrix {
  size_t groups = 1, terms = 0, columns = 0;
  size_t term_stride = 0, column_stride = 1;

  // Of the packed form: columns of a panel, and terms of a word.
  size_t width = 0, word_terms = 0;

  size_t panels() const { return (columns + width - 1) / width; }  // of a group
  size_t words() const { return (terms + word_terms - 1) / word_terms; }
  size_t panel_bytes() const { return words() * width * word_terms; }
  // Where the sums of all columns begin: int32, [groups][panels][width].
  size_t sums_at() const { return groups * panels() * panel_bytes(); }
};

// [groups][panels][words][width][word_terms], filled up with zeros, and the sums of the columns.
std::shared_ptr<const PackedLayout> IntegerPanels(const IntegerMatrix& matrix, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_INTEGER_PANELS_H_
