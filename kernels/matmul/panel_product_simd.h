// Products of floats with weights in panels, whose elements may be smaller than a float. One row
// reads the weights once, in order, and converts them in registers; more rows multiply blocks that
// are first expanded to floats.
#ifndef TENON_KERNELS_MATMUL_PANEL_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_PANEL_PRODUCT_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// kNibbles: integers from -8 to 7. NibblePanels (panel_layout.h) says where each is.
enum class PanelForm { kFloat, kBfloat16, kHalf, kInt8, kUint8, kNibbles };
enum class ScaleForm { kNone, kFloat, kBfloat16, kHalf };

// out[m, n] = a[m, k] * w[k, n] with w = (element - zero) * scale. Panel j holds the columns
// [j * width, (j + 1) * width) as rows of `width` elements; columns from n on are 0. Each `group`
// terms share one row of scales and zeros, which are in panels of the same width. No size is 0, out
// overlaps nothing, and rows of a and out are contiguous.
struct PanelProduct {
  PanelForm form = PanelForm::kFloat;
  size_t m = 0, n = 0, k = 0;
  size_t a_row = 0, out_row = 0;  // elements from row to row
  size_t width = 0;
  size_t panel_bytes = 0;  // of the weights
  size_t group = 0;
  ScaleForm scale = ScaleForm::kNone;
  bool zeros = false;  // in the form of the scales
};
struct PanelOperands {
  const float* a = nullptr;
  const void* weights = nullptr;
  const void* scales = nullptr;
  const void* zeros = nullptr;
  float* out = nullptr;
};

// Computes the columns of the panels [first, last). `scratch` has PanelScratch floats, for one
// thread.
using PanelProductFn = void (*)(const PanelProduct& p, const PanelOperands& o, size_t first,
                                size_t last, float* scratch);
// Null if there are no loops for the form and width.
PanelProductFn FindPanelProduct(PanelForm form, size_t width);
size_t PanelScratch(const PanelProduct& p);

// The width of panels for small elements, and the number of rows that are stored together if they
// are nibbles.
struct PanelSizes {
  size_t width = 0, nibble_rows = 0;
};
PanelSizes FindPanelSizes();

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_PANEL_PRODUCT_SIMD_H_
