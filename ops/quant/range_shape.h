// Shared by the shape functions of quantized ops: ranges are scalars, or vectors along an axis.
#ifndef TENON_OPS_QUANT_RANGE_SHAPE_H_
#define TENON_OPS_QUANT_RANGE_SHAPE_H_

#include <initializer_list>

#include "ops/shape_fn.h"

namespace tenon {

// InvalidArgument unless each of these inputs is a scalar.
absl::Status ExpectScalars(const ShapeContext& c, std::initializer_list<int> inputs);

// Checks the axis (-1: none) against input `data`, and that the range inputs are scalars (no axis)
// or vectors with one element per slice.
absl::Status CheckAxisRanges(const ShapeContext& c, int64_t axis, int data,
                             std::initializer_list<int> ranges);

// The same for a tensor of that shape, such as the output.
absl::Status CheckScales(const ShapeContext& c, const Shape& shape, int64_t axis,
                         std::initializer_list<int> ranges);

// The shape function of ops whose first output has input 0's shape and whose other outputs are
// scalars.
absl::Status UnchangedAndScalarsShape(ShapeContext& c);

}  // namespace tenon

#endif  // TENON_OPS_QUANT_RANGE_SHAPE_H_
