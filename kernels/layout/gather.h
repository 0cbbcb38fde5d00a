// Slices of a tensor picked by index. Any dtype.
#ifndef TENON_KERNELS_LAYOUT_GATHER_H_
#define TENON_KERNELS_LAYOUT_GATHER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The axis that is indexed, and how many leading dimensions belong together.
struct GatherAxes {
  int axis;
  int batch_dims;
};

// From batch_dims and the value of an axis (null: 0). InvalidArgument where they do not fit the
// shapes.
absl::StatusOr<GatherAxes> FindGatherAxes(const AttrReader& attrs, const Shape& params,
                                          const Shape& indices, const Tensor* axis);

// Slices of input 0 along the axis in input 2 (without it: 0) that input 1 (int16, int32 or
// int64) lists. InvalidArgument for an index out of range.
absl::StatusOr<std::unique_ptr<Kernel>> GatherKernel(PrepareContext& p);

// Slices of input 0 that the index vectors of input 1 name. InvalidArgument for an index out of
// range; zeros with bad_indices_policy=IGNORE.
absl::StatusOr<std::unique_ptr<Kernel>> GatherNdKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_GATHER_H_
