// Shared by the shape functions of linear algebra.
#ifndef TENON_OPS_LINALG_MATRIX_SHAPE_H_
#define TENON_OPS_LINALG_MATRIX_SHAPE_H_

#include "ops/shape_fn.h"

namespace tenon {

// InvalidArgument unless the shape is [..., N, N]; dimensions may be unknown.
absl::Status ExpectSquare(const Shape& shape);
absl::Status ExpectMatrices(const Shape& shape);
// The batch dimensions of a shape, followed by others.
Shape WithMatrix(const Shape& shape, std::initializer_list<int64_t> last);

absl::Status SquareToSquareShape(ShapeContext& c);  // [..., N, N] -> the same

}  // namespace tenon

#endif  // TENON_OPS_LINALG_MATRIX_SHAPE_H_
