// Products of dense matrices of doubles in vector code. (oneDNN has none of doubles.)
#ifndef TENON_KERNELS_MATMUL_DOUBLE_PRODUCT_H_
#define TENON_KERNELS_MATMUL_DOUBLE_PRODUCT_H_

#include <cstdint>

namespace tenon {

struct DoubleProduct {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int threads = 1;
};

// out[batch, m, n] = a[batch, m, k] * b[batch, k, n], in parts of 256 terms: the rounding error of
// a long sum is that of a short one. The bits do not depend on the number of threads.
void MultiplyDoubles(const DoubleProduct& product, const double* a, const double* b, double* out);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_DOUBLE_PRODUCT_H_
