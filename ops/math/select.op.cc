// SelectV2 (NumPy broadcasting) and Select (a condition with the values' shape, a scalar, or one
// bool per row).
#include "kernels/elementwise/select.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SelectV2Shape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape values, BroadcastShapes(c.input(1), c.input(2)));
  TENON_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(c.input(0), values));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status SelectShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape values, MergeShapes(c.input(1), c.input(2)));
  const Shape& condition = c.input(0);
  if (condition.has_rank() && values.has_rank() && condition.rank() != 0) {
    const bool per_row = condition.rank() == 1 && values.rank() > 0;
    const bool fits = per_row ? condition.CompatibleWith(Shape({values.dim(0)}))
                              : condition.CompatibleWith(values);
    if (!fits) {
      return InvalidArgument("a condition of shape ", condition.ToString(), " for values of ",
                             values.ToString());
    }
  }
  c.set_output(0, values);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> SelectV2Reference(PrepareContext& p) {
  return SelectKernel(p, p.input_shape(0));
}

absl::StatusOr<std::unique_ptr<Kernel>> SelectReference(PrepareContext& p) {
  Shape condition = p.input_shape(0);
  if (condition.rank() == 1) {
    while (condition.rank() < p.output_shape(0).rank()) condition.push_back(1);
  }
  return SelectKernel(p, condition);
}

const OpRegistration select_v2({
    .name = "SelectV2",
    .inputs = "condition: bool, t: T, e: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = SelectV2Shape,
    .reference = SelectV2Reference,
    .elementwise = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration select({
    .name = "Select",
    .inputs = "condition: bool, t: T, e: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = SelectShape,
    .reference = SelectReference,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
