// Eigenvalues and eigenvectors of Hermitian matrices, [..., n, n], from their lower triangles, or,
// with attribute lower=false, the upper ones.
#ifndef TENON_KERNELS_LINALG_SELF_ADJOINT_EIG_H_
#define TENON_KERNELS_LINALG_SELF_ADJOINT_EIG_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Outputs: values [..., n], in ascending order, and, with attribute compute_v, vectors as columns.
// With a single output, it holds
// a row of values above the vectors: [..., n + 1, n]. float, double, half and complex.
// InvalidArgument at Run if the iteration does not converge.
absl::StatusOr<std::unique_ptr<Kernel>> SelfAdjointEig(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_SELF_ADJOINT_EIG_H_
