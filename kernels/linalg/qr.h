// QR decomposition of matrices, [..., m, n], by Householder reflections.
#ifndef TENON_KERNELS_LINALG_QR_H_
#define TENON_KERNELS_LINALG_QR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Outputs: Q with orthonormal columns and upper triangular R, of the shapes that the op's shape
// function gave them. float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> Qr(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_QR_H_
