// QR decomposition of matrices, [..., m, n], by Householder reflections.
#ifndef TENON_KERNELS_LINALG_QR_H_
#define TENON_KERNELS_LINALG_QR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Outputs: Q with orthonormal columns and the upper triangular R, with the shapes from the op's
// shape function. float, double, half and complex.
absl::StatusOr<std::unique_ptr<Kernel>> Qr(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_QR_H_
