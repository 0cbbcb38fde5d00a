// Matrix products of the reference kernels.
#ifndef TENON_KERNELS_CONTRACTION_REFERENCE_PRODUCT_H_
#define TENON_KERNELS_CONTRACTION_REFERENCE_PRODUCT_H_

#include <cstdint>

namespace tenon {

// out[m, n] = a[m, k] * b[k, n], row by row, on this thread; the rows of b are b_row elements
// apart. Long sums are added in parts of 256 terms, so that their rounding error is that of short
// ones. C: float, double, uint32_t, uint64_t, complex64 or complex128.
template <typename C>
void ReferenceProduct(int64_t m, int64_t n, int64_t k, const C* a, const C* b, int64_t b_row,
                      C* out);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_REFERENCE_PRODUCT_H_
