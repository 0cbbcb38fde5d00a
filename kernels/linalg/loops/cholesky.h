// The Cholesky decomposition of Hermitian matrices, [..., n, n], and its gradient.
#ifndef TENON_KERNELS_LINALG_LOOPS_CHOLESKY_H_
#define TENON_KERNELS_LINALG_LOOPS_CHOLESKY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The lower triangular L with L L^H = A, from A's lower triangle; NaN if A is not positive
// definite. float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> Cholesky(PrepareContext& p);

// A's gradient from L (input 0) and L's gradient (input 1). float, double and half.
absl::StatusOr<std::unique_ptr<Kernel>> CholeskyGrad(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_CHOLESKY_H_
