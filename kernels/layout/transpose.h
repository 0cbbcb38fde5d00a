// Transposes by vector code and row copies.
#ifndef TENON_KERNELS_LAYOUT_TRANSPOSE_H_
#define TENON_KERNELS_LAYOUT_TRANSPOSE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// (x, perm): every dtype with elements of 1, 2, 4, 8 or 16 bytes. perm must be known.
absl::StatusOr<std::unique_ptr<Kernel>> VectorTranspose(PrepareContext& p);

// The same without a node: of a tensor of shape `in` with elements of `element` bytes. `perm` is a
// permutation of its axes.
absl::StatusOr<std::unique_ptr<Kernel>> TransposeOf(const Shape& in,
                                                    const std::vector<int64_t>& perm,
                                                    size_t element, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_TRANSPOSE_H_
