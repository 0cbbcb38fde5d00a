// What the shape functions of linear algebra share.
#ifndef TENON_OPS_LINALG_MATRIX_SHAPE_H_
#define TENON_OPS_LINALG_MATRIX_SHAPE_H_

#include "ops/shape_fn.h"

namespace tenon {

// Shapes [..., N, N], else InvalidArgument; dimensions may be unknown.
absl::Status ExpectSquare(const Shape& shape);
absl::Status ExpectMatrices(const Shape& shape);
// The batch dimensions of a shape with others behind.
Shape WithMatrix(const Shape& shape, std::initializer_list<int64_t> last);

absl::Status SquareToSquareShape(ShapeContext& c);  // [..., N, N] -> the same

}  // namespace tenon

#endif  // TENON_OPS_LINALG_MATRIX_SHAPE_H_
