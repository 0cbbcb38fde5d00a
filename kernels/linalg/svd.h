// Singular value decomposition of matrices, [..., m, n], computed in double precision.
#ifndef TENON_KERNELS_LINALG_SVD_H_
#define TENON_KERNELS_LINALG_SVD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct SvdForm {
  bool vectors = true;  // whether there are U and V
  bool full = false;    // whether they are square
};

// Outputs: s, in descending order, and U and V with U diag(s) V^H = A. float, double and complex.
absl::StatusOr<std::unique_ptr<Kernel>> Svd(PrepareContext& p, SvdForm form);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_SVD_H_
