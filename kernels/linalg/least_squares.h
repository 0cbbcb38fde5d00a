// Least-squares solutions of linear systems, computed in double precision.
#ifndef TENON_KERNELS_LINALG_LEAST_SQUARES_H_
#define TENON_KERNELS_LINALG_LEAST_SQUARES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The x that minimizes |A x - b|^2 + l2 |x|^2, or the shortest of them where A has more columns
// than rows. Inputs: A [..., m, n], b [..., m, k], l2 (a double). Attribute fast: Cholesky's method
// on the normal equations, InvalidArgument at Run where those are singular; without it an
// orthogonal decomposition is taken, and l2 is not used. float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> LeastSquares(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LEAST_SQUARES_H_
