// Combines two sparse tensors with the same shape where either has an element; a missing one counts
// as 0.
#ifndef TENON_KERNELS_SPARSE_COMBINE_H_
#define TENON_KERNELS_SPARSE_COMBINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The sum. Sums of two elements whose magnitude is below the threshold (input 6) are dropped;
// single elements stay. InvalidArgument if shapes or the dtype of the threshold differ.
absl::StatusOr<std::unique_ptr<Kernel>> SparseAddKernel(PrepareContext& p);

// The larger or the smaller of two elements.
enum class Extremum { kMaximum, kMinimum };

// Real numbers. InvalidArgument if the shapes differ or indices are out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseExtremumKernel(PrepareContext& p, Extremum which);
template <Extremum which>
absl::StatusOr<std::unique_ptr<Kernel>> SparseExtremumKernel(PrepareContext& p) {
  return SparseExtremumKernel(p, which);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_COMBINE_H_
