// The shape function of normalizations over the last axis.
#ifndef TENON_OPS_NN_LAYER_NORM_SHAPE_H_
#define TENON_OPS_NN_LAYER_NORM_SHAPE_H_

#include "absl/status/status.h"
#include "ops/shape_fn.h"

namespace tenon {

// Inputs: x, possibly a residual (each may broadcast to the other's shape), and `parameters`
// vectors along the last axis. All outputs have the shape of x + residual.
absl::Status LastAxisNormShape(ShapeContext& c, int parameters);

}  // namespace tenon

#endif  // TENON_OPS_NN_LAYER_NORM_SHAPE_H_
