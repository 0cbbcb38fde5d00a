// Products of dense matrices of doubles, complex numbers and integers in vector code. (oneDNN has
// none.)
#ifndef TENON_KERNELS_MATMUL_DENSE_PRODUCT_H_
#define TENON_KERNELS_MATMUL_DENSE_PRODUCT_H_

#include <cstdint>

namespace tenon {

struct DenseProduct {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int threads = 1;
};

// out[batch, m, n] = a[batch, m, k] * b[batch, k, n], in parts of 256 terms: the rounding error of
// a long sum is that of a short one. The bits do not depend on the number of threads. T: float,
// double, complex numbers of these, or uint32_t.
template <typename T>
void MultiplyDense(const DenseProduct& product, const T* a, const T* b, T* out);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_DENSE_PRODUCT_H_
