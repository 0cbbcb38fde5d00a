// A product of two small float matrices, or of a matrix and a vector, on one thread, by code short
// enough to be fast when it runs occasionally, between other work that evicts it from the caches.
#ifndef TENON_KERNELS_MATMUL_SMALL_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_SMALL_PRODUCT_SIMD_H_

#include <cstddef>

namespace tenon {

// out[m, n] = a[m, k] * b[k, n]; strides in elements. Rows of out are contiguous, and those of b
// or, together with the rows of a, its columns. No size is 0, and out overlaps neither a nor b.
struct SmallProduct {
  size_t m = 0, n = 0, k = 0;
  size_t a_row = 0, a_column = 0;
  size_t b_row = 0, b_column = 1;
  size_t out_row = 0;

  // Whether the terms of a sum are adjacent on both sides.
  bool dots() const { return b_row == 1 && a_column == 1 && (b_column != 1 || n == 1); }
  double flops() const { return 2.0 * static_cast<double>(m * n * k); }
};
using SmallProductFn = void (*)(const SmallProduct& p, const float* a, const float* b, float* out);
SmallProductFn FindSmallProduct();

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_SMALL_PRODUCT_SIMD_H_
