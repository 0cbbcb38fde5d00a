// Gathers slices of a tensor by index. Any dtype.
#ifndef TENON_KERNELS_LAYOUT_GATHER_H_
#define TENON_KERNELS_LAYOUT_GATHER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The indexed axis, and the number of leading batch dimensions.
struct GatherAxes {
  int axis;
  int batch_dims;
};

// From batch_dims and the value of an axis (null: 0). InvalidArgument if they do not match the
// shapes.
absl::StatusOr<GatherAxes> FindGatherAxes(const AttrReader& attrs, const Shape& params,
                                          const Shape& indices, const Tensor* axis);

// Slices of input 0 along the axis in input 2 (default 0), listed in input 1 (int16, int32 or
// int64). InvalidArgument for an index out of range.
absl::StatusOr<std::unique_ptr<Kernel>> GatherKernel(PrepareContext& p);

// Slices of input 0 given by the index vectors in input 1. An index out of range is an
// InvalidArgument, or gives zeros with bad_indices_policy=IGNORE.
absl::StatusOr<std::unique_ptr<Kernel>> GatherNdKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_GATHER_H_
