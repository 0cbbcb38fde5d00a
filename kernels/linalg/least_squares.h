// Least-squares solutions of linear systems, computed in double precision.
#ifndef TENON_KERNELS_LINALG_LEAST_SQUARES_H_
#define TENON_KERNELS_LINALG_LEAST_SQUARES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The x that minimizes |A x - b|^2 + l2 |x|^2, or the shortest such x if A has more columns than
// rows. Inputs: A [..., m, n], b [..., m, k], l2 (a double). Attribute fast: Cholesky decomposition
// of the normal equations, InvalidArgument at Run if those are singular; otherwise an orthogonal
// decomposition, which ignores l2. float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> LeastSquares(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LEAST_SQUARES_H_
