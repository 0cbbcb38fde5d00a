// Matrices packed into panels of adjacent columns, for kernels/matmul/panel_product_simd.h.
#ifndef TENON_KERNELS_MATMUL_PANEL_LAYOUT_H_
#define TENON_KERNELS_MATMUL_PANEL_LAYOUT_H_

#include <cstddef>
#include <memory>

#include "primitive_cache/primitive.h"

namespace tenon {

// A plain matrix of `rows` x `columns`, or its transpose if `transposed`.
struct PanelMatrix {
  size_t rows = 0, columns = 0;
  bool transposed = false;
  size_t width = 0;  // columns of a panel; the last one is filled up with zero bytes
};

// Panels of elements of 1, 2 or 4 bytes: [panels][rows][width].
std::shared_ptr<const PackedLayout> ElementPanels(const PanelMatrix& matrix, size_t element_bytes,
                                                  int threads);

// Panels of 4-bit integers. In the plain matrix, `rows` counts numbers: of each `group` rows, byte
// row i has row i in its low half and row i + group / 2 in its high half; numbers are stored plus
// 8. In a panel, each 32-bit word has the numbers, in two's complement, of `word_rows` rows by
// 8 / word_rows vectors of width * word_rows / 8 columns. `rows` is a multiple of `group`, and that
// of 2; panels are filled up to a multiple of `word_rows`.
std::shared_ptr<const PackedLayout> NibblePanels(const PanelMatrix& matrix, size_t group,
                                                 size_t word_rows, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_PANEL_LAYOUT_H_
