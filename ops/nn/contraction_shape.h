// Shared by the shape functions of convolutions and matrix products: shape checks of fused ops.
#ifndef TENON_OPS_NN_CONTRACTION_SHAPE_H_
#define TENON_OPS_NN_CONTRACTION_SHAPE_H_

#include "kernels/contraction/fused_ops.h"
#include "ops/shape_fn.h"

namespace tenon {

// Checks that every extra input broadcasts to `output` ([C] for a bias).
absl::Status CheckFusedOpShapes(const FusedOps& ops, const ShapeContext& c, const Shape& output,
                                int channel_axis);

// Checks the fused ops' inputs and sets output 0.
absl::Status SetProductShape(ShapeContext& c, Shape output);

}  // namespace tenon

#endif  // TENON_OPS_NN_CONTRACTION_SHAPE_H_
