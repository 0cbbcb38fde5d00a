// The nearest centers of points.
#ifndef TENON_KERNELS_REDUCTION_NEAREST_NEIGHBORS_H_
#define TENON_KERNELS_REDUCTION_NEAREST_NEIGHBORS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: points [n, d], centers [c, d], k. Outputs: indices and squared distances of each point's
// k nearest centers, [n, min(k, c)], nearest first; of equal ones the first. Distances that are NaN
// come last. float.
absl::StatusOr<std::unique_ptr<Kernel>> NearestNeighbors(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_NEAREST_NEIGHBORS_H_
