// Transposes by vector code and row copies.
#ifndef TENON_KERNELS_LAYOUT_TRANSPOSE_H_
#define TENON_KERNELS_LAYOUT_TRANSPOSE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// (x, perm): every dtype with elements of 1, 2, 4, 8 or 16 bytes. perm must be known.
absl::StatusOr<std::unique_ptr<Kernel>> VectorTranspose(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_TRANSPOSE_H_
