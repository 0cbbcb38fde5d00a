// Products of many rows with packed floats. Their sums are cut into parts of at most kPartTerms
// terms: each part has an accumulator of its own, so that the rounding error of a long sum is that
// of a short one.
#ifndef TENON_KERNELS_MATMUL_BLOCKED_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_BLOCKED_PRODUCT_SIMD_H_

#include <cstddef>

namespace tenon {

inline constexpr size_t kPartTerms = 256;
// The length of about equal parts of k terms: a multiple of 16, at most kPartTerms.
inline size_t EqualTerms(size_t k) {
  const size_t parts = (k + kPartTerms - 1) / kPartTerms;
  return ((k + parts - 1) / parts + 15) / 16 * 16;
}
// Rows of a that are multiples of 2 KiB apart share few cache sets. A copy with rows this many
// floats apart does not: an odd number of cache lines, if they have a multiple of 32 terms.
constexpr size_t CopiedRow(size_t terms) { return (terms + 31) / 32 * 32 + 16; }

// out[rows, columns] (+)= a[rows, terms] * w[terms, column + columns], of which the first `column`
// columns are left out: a multiple of 32, or of BlockedLoops::columns if that is less. No size is
// 0. Element (k, j) of w is at w + (j / width) * panel + k * width + j % width; columns up to the
// next multiple of width are readable.
struct BlockedProduct {
  const float* a = nullptr;
  size_t a_row = 0;
  size_t rows = 0, column = 0, columns = 0, terms = 0;
  size_t part = kPartTerms;  // terms of each sum; these are added one after the other
  const float* w = nullptr;
  size_t width = 0, panel = 0;
  // Weights that will be read next: as many terms of the first columns. May be null.
  const float* next_w = nullptr;
  bool add = false;  // to out
  float* out = nullptr;
  size_t out_row = 0;
  // Will be read next: as many rows, of next_terms floats, this far apart. May be null.
  const float* next = nullptr;
  size_t next_row = 0, next_terms = 0;
};
using BlockedProductFn = void (*)(const BlockedProduct&);

struct BlockedLoops {
  BlockedProductFn multiply = nullptr;
  size_t columns = 0;     // computed together: parts of a product should begin at multiples of this
  size_t most_terms = 0;  // of one call for which it is fast
  // Whether they read panels of this width; `one`: there is only one panel.
  bool (*supports)(size_t width, bool one) = nullptr;
};
BlockedLoops FindBlockedLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_BLOCKED_PRODUCT_SIMD_H_
