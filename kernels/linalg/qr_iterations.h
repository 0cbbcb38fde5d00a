// Implicit QR iterations: the eigenvalues of real tridiagonal matrices and the singular values of
// bidiagonal ones (Golub and Van Loan, "Matrix Computations", 8.3 and 8.6). Values are computed in
// double and vectors in R, float or double, whose precision decides what is negligible. The largest
// element should be about 1.
#ifndef TENON_KERNELS_LINALG_QR_ITERATIONS_H_
#define TENON_KERNELS_LINALG_QR_ITERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

// An orthogonal matrix, at first the identity, whose columns are rotated.
template <typename R>
class RotatedColumns {
 public:
  explicit RotatedColumns(int64_t n);

  R* column(size_t k) { return values_.data() + k * stride_; }
  const R* column(size_t k) const { return values_.data() + k * stride_; }

  // Columns first + k and first + k + 1, x and y, become c x + s y and c y - s x, with c and s the
  // numbers 2 k and 2 k + 1 of `turns`, for one k after the other.
  void Rotate(size_t first, const std::vector<R>& turns);
  // The same for any two columns.
  void RotatePair(size_t x, size_t y, double c, double s);
  void Negate(size_t k);

 private:
  size_t n_, stride_;
  std::vector<R> values_;
};

// A = Q diag(d) Q^T, where A has the diagonal d and, beside it, e (one element less). d becomes the
// eigenvalues, in no order; e is overwritten. q may be null. False: no convergence, as of NaN.
template <typename R>
bool DiagonalizeTridiagonal(std::vector<double>& d, std::vector<double>& e, RotatedColumns<R>* q);

// A = U diag(d) V^T, where A has the diagonal d and, above it, e. d becomes the singular values, in
// no order. u and v may be null. False: no convergence.
template <typename R>
bool DiagonalizeBidiagonal(std::vector<double>& d, std::vector<double>& e, RotatedColumns<R>* u,
                           RotatedColumns<R>* v);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_QR_ITERATIONS_H_
