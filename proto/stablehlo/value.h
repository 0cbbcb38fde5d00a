// A value of the module while it is written as TensorFlow's ops.
//
// StableHLO's elementwise ops take operands of one shape, so their operands are repeated and
// reshaped all the time; TensorFlow's repeat small operands themselves. A value is therefore a view
// of a tensor (`base`): each dimension is one of the base's, or repeats it. The base's other
// dimensions are 1. Tensors are repeated or reshaped only for ops that need them so.
#ifndef TENON_PROTO_STABLEHLO_VALUE_H_
#define TENON_PROTO_STABLEHLO_VALUE_H_

#include <memory>
#include <vector>

#include "graph/shape.h"
#include "graph/tensor.h"
#include "proto/stablehlo/function_writer.h"

namespace tenon::stablehlo {

// How a value was computed, if that lets a later op be another one: the mean is a sum divided by a
// count.
struct Origin {
  enum class Kind { kSum, kWindowSum, kWindowCount };
  Kind kind = Kind::kSum;
  Ref input;
  Shape input_shape;
  std::vector<int64_t> dims;  // summed
  int64_t count = 0;          // of elements in a sum; 0: not known, or not the same for all
  // Of windows: strides, and whether they reach over the border.
  std::vector<int64_t> strides;
  bool same = false;
};

struct Value {
  DType dtype = DType::kInvalid;  // invalid: a token
  Shape shape;
  Ref base;
  Shape base_shape;
  std::vector<int> axes;  // by dimension: the base's axis, or -1 where it is repeated; ascending
  Ref sizes;              // the shape as a vector, for dimensions that are repeated but not known
  Tensor constant;        // the base's elements, if they are known
  std::shared_ptr<const Origin> origin;  // of the base; may be null

  int rank() const { return shape.rank(); }
  bool IsWhole() const;    // the base itself
  bool IsUniform() const;  // one element, repeated
  // The element of a uniform constant as a double; false if it is none, or complex.
  bool UniformNumber(double& number) const;
};

Value Whole(Ref base, Shape shape);

// The same elements with a shape that differs by dimensions of 1; false if it differs otherwise, or
// may.
bool ReshapedView(const Value& v, const Shape& to, Value& out);
// The value with dimension order[i] as dimension i, if only dimensions of 1 change places;
// otherwise false.
bool TransposedView(const Value& v, const std::vector<int64_t>& order, Value& out);
// The value without dimension `d`, of size 1, and with one more before `d`.
Value WithoutUnit(const Value& v, int d);
Value WithUnit(const Value& v, int d);
// The value without all dimensions of 1.
Value Compact(const Value& v);
// Undoes that: `v` with dimensions of 1 wherever `shape` has them.
Value Expanded(Value v, const Shape& shape);
// The value with dimension i as dimension dims[i] of the result, which is repeated along all
// others.
Value BroadcastView(const Value& v, const std::vector<int64_t>& dims, Shape to, Ref sizes);

// The shape of the base once it has no axes but the value's, from the first that is not repeated
// on: what TensorFlow repeats to the value's shape.
Shape AlignedShape(const Value& v);
// Whether TensorFlow would repeat the base as it is.
bool IsAligned(const Value& v);

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_VALUE_H_
