// Gradients of pools.
//
// Where several elements of a window are the largest, MaxPoolGrad gives the gradient to the first,
// as TensorFlow's CPU kernels do; MaxPool3DGrad gives it to every one that is within 1e-5 of the
// largest.
#ifndef TENON_KERNELS_POOLING_POOL_GRAD_H_
#define TENON_KERNELS_POOLING_POOL_GRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/pooling/pool_geometry.h"

namespace tenon {

enum class PoolGradKind { kAverage, kMax, kMaxTies };

// The pool whose gradient a node is. Inputs: the pool's input's shape and dy, or the pool's input,
// its output and dy, then perhaps ksize and strides. InvalidArgument where a shape is not what the
// pool gives; Unimplemented where an input must be known and is not.
absl::StatusOr<PoolGeometry> PoolGradGeometry(PrepareContext& p, int spatial, PoolGradKind kind);

// Inputs of a node that must be known before it can be prepared.
std::vector<int> PoolGradParameters(const PrepareContext& p, PoolGradKind kind);

absl::StatusOr<std::unique_ptr<Kernel>> PoolGradReference(PrepareContext& p, int spatial,
                                                          PoolGradKind kind);
// Channels last, float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> PoolGradVector(PrepareContext& p, int spatial,
                                                       PoolGradKind kind);

// A max pool that also gives each window's first largest element as its place in the window, and
// the gradient that reads those places. Unimplemented for windows of more than 256 elements.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolWorkspaceVector(PrepareContext& p, int spatial);
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolGradWorkspaceVector(PrepareContext& p, int spatial);

// MaxPoolWithArgmax of floats.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_GRAD_H_
