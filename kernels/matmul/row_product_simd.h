// Products of rows with a small matrix. Sums stay in registers until bias and activation are
// applied; long ones are cut into parts, as those of blocked_product_simd.h.
#ifndef TENON_KERNELS_MATMUL_ROW_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_ROW_PRODUCT_SIMD_H_

#include <cstddef>

namespace tenon {

// out[rows, columns] = a[rows, terms] * w, then + bias[column], + addend, and negative results and
// those above 6 are replaced as told. No size is 0, except that of segments. Element (k, j) of w is
// at w + (j / width) * panel + k * width + j % width; columns up to the next multiple of width are
// readable.
struct RowProduct {
  const float* a = nullptr;
  size_t a_row = 0;
  size_t rows = 0, columns = 0, terms = 0;
  size_t part = 0;  // terms of each part of a sum, if there is one segment
  // Of each row, `terms` floats each, this many floats apart.
  size_t segments = 1, segment_step = 0;
  const float* w = nullptr;
  size_t width = 0, panel = 0;    // width: that of RowPanelsOf(all columns)
  const float* bias = nullptr;    // may be null
  const float* addend = nullptr;  // may be null; rows lie as those of out
  bool clamp_low = false, clamp_high = false;
  float* out = nullptr;
  size_t out_row = 0;
};

using RowProductFn = void (*)(const RowProduct& p);
RowProductFn FindRowProduct();
// Panels of equal numbers of whole vectors.
struct RowPanels {
  size_t width = 0;      // columns
  size_t tile_rows = 0;  // rows that are computed together
};
RowPanels RowPanelsOf(size_t columns);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_ROW_PRODUCT_SIMD_H_
