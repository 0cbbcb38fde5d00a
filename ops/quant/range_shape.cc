#include "ops/quant/range_shape.h"

#include "env/status.h"

namespace tenon {

absl::Status ExpectScalars(const ShapeContext& c, std::initializer_list<int> inputs) {
  for (int i : inputs) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return absl::OkStatus();
}

absl::Status CheckScales(const ShapeContext& c, const Shape& shape, int64_t axis,
                         std::initializer_list<int> ranges) {
  if (axis < -1) return InvalidArgument("axis must be at least -1, is ", axis);
  if (axis >= 0 && shape.has_rank() && axis >= shape.rank()) {
    return InvalidArgument("axis ", axis, " is not below the rank of ", shape.ToString());
  }
  for (int i : ranges) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, axis < 0 ? 0 : 1));
    if (axis < 0 || !c.input(i).has_rank() || !shape.has_rank()) continue;
    const int64_t want = shape[static_cast<int>(axis)], have = c.input(i)[0];
    if (want >= 0 && have >= 0 && want != have) {
      return InvalidArgument("input ", i, " must have an element for each of the ", want,
                             " slices along axis ", axis, ", has ", have);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAxisRanges(const ShapeContext& c, int64_t axis, int data,
                             std::initializer_list<int> ranges) {
  return CheckScales(c, c.input(data), axis, ranges);
}

absl::Status UnchangedAndScalarsShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, Shape());
  return absl::OkStatus();
}

}  // namespace tenon
