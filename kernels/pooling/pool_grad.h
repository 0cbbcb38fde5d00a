// Gradients of pools.
//
// If several elements of a window are the largest, MaxPoolGrad gives the gradient to the first, as
// TensorFlow's CPU kernels do; MaxPool3DGrad gives it to all that are within 1e-5 of the largest.
#ifndef TENON_KERNELS_POOLING_POOL_GRAD_H_
#define TENON_KERNELS_POOLING_POOL_GRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/pooling/pool_geometry.h"

namespace tenon {

enum class PoolGradKind { kAverage, kMax, kMaxTies };

// The pool that a gradient node belongs to. Inputs: the shape of the pool's input and dy; or the
// pool's input, its output and dy; possibly ksize and strides. InvalidArgument if a shape does not
// match the pool; Unimplemented if an input must be known and is not.
absl::StatusOr<PoolGeometry> PoolGradGeometry(PrepareContext& p, int spatial, PoolGradKind kind);

// The inputs of a node that must be known in Prepare.
std::vector<int> PoolGradParameters(const PrepareContext& p, PoolGradKind kind);

absl::StatusOr<std::unique_ptr<Kernel>> PoolGradReference(PrepareContext& p, int spatial,
                                                          PoolGradKind kind);
// Channels last, float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> PoolGradVector(PrepareContext& p, int spatial,
                                                       PoolGradKind kind);

// A max pool that also outputs the position of each window's first largest element, and the
// gradient that reads these positions. Unimplemented for windows of more than 256 elements.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolWorkspaceVector(PrepareContext& p, int spatial);
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolGradWorkspaceVector(PrepareContext& p, int spatial);

// MaxPoolWithArgmax of floats.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_GRAD_H_
