#include "kernels/interface/axis.h"

#include "kernels/interface/types.h"

namespace tenon {

absl::StatusOr<std::vector<int64_t>> IntegersOf(const Tensor& t) {
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(t.num_elements()));
  const bool known = VisitTypes(Ints{}, t.dtype(), [&]<typename T>() {
    for (T v : t.flat<T>()) out.push_back(static_cast<int64_t>(v));
  });
  if (!known) return InvalidArgument("expected integers, got ", Name(t.dtype()));
  return out;
}

absl::StatusOr<int64_t> ScalarInteger(const Tensor& t, absl::string_view what) {
  if (t.num_elements() != 1) {
    return InvalidArgument(what, " must be a scalar, but has shape ", t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(t));
  return values[0];
}

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis ", axis, " is not in [", -rank, ", ", rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<bool>> AxisMask(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> mask(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    TENON_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, rank));
    if (mask[static_cast<size_t>(k)]) return InvalidArgument("axis ", axis, " is named twice");
    mask[static_cast<size_t>(k)] = true;
  }
  return mask;
}

absl::StatusOr<Shape> ShapeOfValue(const Tensor& t, MinusOne minus_one) {
  if (t.shape().rank() != 1) {
    return InvalidArgument("a shape must be a vector, but has shape ", t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(t));
  Shape shape;
  for (int64_t v : values) {
    if (v < (minus_one == MinusOne::kUnknown ? -1 : 0)) {
      return InvalidArgument("a dimension of ", v, " in a shape");
    }
    shape.push_back(v);
  }
  if (shape.IsComplete()) TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
  return shape;
}

int64_t Product(const Shape& shape, int from, int to) {
  int64_t n = 1;
  for (int i = from; i < to; ++i) n *= shape.dim(i);
  return n;
}

}  // namespace tenon
