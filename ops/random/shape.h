// Shape functions of random ops: input 0, or another one, gives the shape.
#ifndef TENON_OPS_RANDOM_SHAPE_H_
#define TENON_OPS_RANDOM_SHAPE_H_

#include "ops/shape_fn.h"

namespace tenon {

// Output 0 has the shape in input 0.
absl::Status RandomShape(ShapeContext& c);
absl::Status RandomShapeOf(ShapeContext& c, int input);

// logits [batch, classes], num_samples -> [batch, num_samples].
absl::Status MultinomialShape(ShapeContext& c);

}  // namespace tenon

#endif  // TENON_OPS_RANDOM_SHAPE_H_
