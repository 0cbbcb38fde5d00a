// Matrix products of the reference kernels.
#ifndef TENON_KERNELS_CONTRACTION_REFERENCE_PRODUCT_H_
#define TENON_KERNELS_CONTRACTION_REFERENCE_PRODUCT_H_

#include <Eigen/Core>
#include <algorithm>

namespace tenon {

// out = x * y, in parts of 256 terms: the rounding error of a long sum is that of a short one.
// Eigen's own parts grow with the caches.
template <typename X, typename Y, typename Out>
void ReferenceProduct(const X& x, const Y& y, Out&& out) {
  constexpr Eigen::Index kTerms = 256;
  const Eigen::Index first = std::min(kTerms, x.cols());
  out.noalias() = x.leftCols(first) * y.topRows(first);
  for (Eigen::Index k = first; k < x.cols(); k += kTerms) {
    const Eigen::Index n = std::min(kTerms, x.cols() - k);
    out.noalias() += x.middleCols(k, n) * y.middleRows(k, n);
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_REFERENCE_PRODUCT_H_
