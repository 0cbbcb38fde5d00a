// Rows of sums of products, for products that are none of matrices.
#ifndef TENON_KERNELS_MATMUL_VECTOR_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_VECTOR_PRODUCT_SIMD_H_

#include <cstddef>

namespace tenon {

// out[i * out_step] (+)= the sum over k < terms of a[i * a_step + k * a_term] * b[i * b_step + k *
// b_term], for i < n; then so for the rows that follow, each a_row, b_row and out_row on. Steps are
// in floats; neither n, `terms` nor `rows` is 0, and out overlaps nothing.
struct VectorProduct {
  size_t n = 0, terms = 0;
  size_t a_step = 0, b_step = 0, out_step = 0;
  size_t a_term = 0, b_term = 0;
  size_t rows = 1, a_row = 0, b_row = 0, out_row = 0;
  bool add = false;
};
using VectorProductFn = void (*)(const VectorProduct& p, const float* a, const float* b,
                                 float* out);

struct VectorProductLoops {
  // Terms are adjacent: a_term and b_term are 1.
  VectorProductFn dots = nullptr;
  // Results are adjacent: out_step is 1, and a_step and b_step are 1 or 0.
  VectorProductFn elements = nullptr;
};
VectorProductLoops FindVectorProduct();

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_VECTOR_PRODUCT_SIMD_H_
