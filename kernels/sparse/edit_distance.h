// Counts insertions, deletions and substitutions between rows of sparse tensors (Levenshtein).
#ifndef TENON_KERNELS_SPARSE_EDIT_DISTANCE_H_
#define TENON_KERNELS_SPARSE_EDIT_DISTANCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Distances (float) between the innermost rows of two sparse tensors of any dtype; divided by the
// second one's length with `normalize`. InvalidArgument for indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> EditDistanceKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_EDIT_DISTANCE_H_
