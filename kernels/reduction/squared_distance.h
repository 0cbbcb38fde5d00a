// Sums over the last axis of squared differences, without the differences in memory: distances of
// points from centers.
#ifndef TENON_KERNELS_REDUCTION_SQUARED_DISTANCE_H_
#define TENON_KERNELS_REDUCTION_SQUARED_DISTANCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Floats; the inputs are broadcast together as in NumPy.
absl::StatusOr<std::unique_ptr<Kernel>> SquaredDistanceReference(PrepareContext& p);
// Unimplemented if the last axis of one input is broadcast along that of the other.
absl::StatusOr<std::unique_ptr<Kernel>> SquaredDistanceVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_SQUARED_DISTANCE_H_
