// Constant matrices of narrow numbers packed for kernels/contraction/narrow_product_simd.h.
#ifndef TENON_KERNELS_CONTRACTION_NARROW_PANELS_H_
#define TENON_KERNELS_CONTRACTION_NARROW_PANELS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "primitive_cache/primitive.h"

namespace tenon {

// `groups` matrices of `terms` x `columns`. An element of the plain matrices lies at
// (group * columns + column) * column_stride + term * term_stride.
struct NarrowMatrix {
  size_t groups = 1, terms = 0, columns = 0;
  size_t term_stride = 0, column_stride = 1;
  size_t element_bytes = 1;  // 1: 8-bit integers, 2: bfloat16

  // Of the packed form: columns of a panel, and terms of a word.
  size_t width = 0, word_terms = 0;

  size_t panels() const { return (columns + width - 1) / width; }  // of a group
  size_t words() const { return (terms + word_terms - 1) / word_terms; }
  size_t panel_bytes() const { return words() * width * word_terms * element_bytes; }
  // Where the sums of all columns begin, for integers: int32, [groups][panels][width].
  size_t sums_at() const { return groups * panels() * panel_bytes(); }
};

// [groups][panels][words][width][word_terms], filled up with zeros, and for integers the sums of
// the columns.
std::shared_ptr<const PackedLayout> NarrowPanels(const NarrowMatrix& matrix, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_NARROW_PANELS_H_
