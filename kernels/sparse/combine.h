// Two sparse tensors of one shape combined where either has an element; an absent one counts as 0.
#ifndef TENON_KERNELS_SPARSE_COMBINE_H_
#define TENON_KERNELS_SPARSE_COMBINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The sum. Sums of two elements whose magnitude is below the threshold (input 6) are left out;
// single elements stay. InvalidArgument where shapes or the dtype of the threshold differ.
absl::StatusOr<std::unique_ptr<Kernel>> SparseAddKernel(PrepareContext& p);

// The larger or the smaller of two elements.
enum class Extremum { kMaximum, kMinimum };

// Real numbers. InvalidArgument where the shapes differ or indices are out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseExtremumKernel(PrepareContext& p, Extremum which);
template <Extremum which>
absl::StatusOr<std::unique_ptr<Kernel>> SparseExtremumKernel(PrepareContext& p) {
  return SparseExtremumKernel(p, which);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_COMBINE_H_
