// Singular value decomposition of matrices, [..., m, n], computed in double precision.
#ifndef TENON_KERNELS_LINALG_SVD_H_
#define TENON_KERNELS_LINALG_SVD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Outputs: s, in descending order, and with attribute compute_uv U and V with U diag(s) V^H = A;
// full_matrices determines whether U and V are square. float, double and complex.
absl::StatusOr<std::unique_ptr<Kernel>> Svd(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_SVD_H_
