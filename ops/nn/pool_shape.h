// Shape functions of the pools and their gradients.
#ifndef TENON_OPS_NN_POOL_SHAPE_H_
#define TENON_OPS_NN_POOL_SHAPE_H_

#include "kernels/convolution/conv_geometry.h"
#include "ops/shape_fn.h"

namespace tenon {

absl::Status PoolShape(ShapeContext& c, int spatial);
// With these window attributes.
absl::Status PoolShape(ShapeContext& c, const WindowAttrs& attrs);

// The output has the shape of input 0.
absl::Status MaxPoolGradShape(ShapeContext& c, int spatial);

// Input 0 is the output's shape.
absl::Status AvgPoolGradShape(ShapeContext& c, int spatial);

}  // namespace tenon

#endif  // TENON_OPS_NN_POOL_SHAPE_H_
