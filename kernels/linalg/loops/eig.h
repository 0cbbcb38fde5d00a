// Eigenvalues and eigenvectors of general square matrices, [..., n, n], computed in double
// precision.
#ifndef TENON_KERNELS_LINALG_LOOPS_EIG_H_
#define TENON_KERNELS_LINALG_LOOPS_EIG_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0: float, double or complex; outputs, complex: values [..., n] and, with attribute
// compute_v, vectors as columns. InvalidArgument if Tout does not match T, or at Run if the
// iteration does not converge.
absl::StatusOr<std::unique_ptr<Kernel>> Eig(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_EIG_H_
