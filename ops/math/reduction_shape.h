// The shape function of reductions over a set of axes.
#ifndef TENON_OPS_MATH_REDUCTION_SHAPE_H_
#define TENON_OPS_MATH_REDUCTION_SHAPE_H_

#include "ops/shape_fn.h"

namespace tenon {

// input, reduction_indices (scalar or vector), attribute keep_dims.
absl::Status ReductionShape(ShapeContext& c);

}  // namespace tenon

#endif  // TENON_OPS_MATH_REDUCTION_SHAPE_H_
