// OptionalNone, OptionalFromValue, OptionalHasValue, OptionalGetValue: tensors that may be absent,
// in a variant scalar.
#include "kernels/lists/optional.h"

#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration optional_none({
    .name = "OptionalNone",
    .outputs = "optional: variant",
    .shape = ScalarShape,
    .reference = NoOptionalKernel,
});

const OpRegistration optional_from_value({
    .name = "OptionalFromValue",
    .inputs = "components: Toutput_types",
    .outputs = "optional: variant",
    .attrs = "Toutput_types: list(type)",
    .shape = ScalarShape,
    .reference = OptionalOfKernel,
});

absl::Status HasValueShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

const OpRegistration optional_has_value({
    .name = "OptionalHasValue",
    .inputs = "optional: variant",
    .outputs = "has_value: bool",
    .shape = HasValueShape,
    .reference = OptionalHasKernel,
});

absl::Status GetValueShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  const auto* shapes = c.node().attr<std::vector<Shape>>("output_shapes");
  if (shapes == nullptr || static_cast<int>(shapes->size()) != c.num_outputs()) {
    return InvalidArgument("output_shapes must have a shape for each of ", c.num_outputs(),
                           " outputs");
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Shape& shape = (*shapes)[static_cast<size_t>(i)];
    if (shape.IsComplete()) TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    c.set_output(i, shape);
  }
  return absl::OkStatus();
}

const OpRegistration optional_get_value({
    .name = "OptionalGetValue",
    .inputs = "optional: variant",
    .outputs = "components: output_types",
    .attrs = "output_types: list(type); output_shapes: list(shape)",
    .shape = GetValueShape,
    .reference = OptionalGetKernel,
});

}  // namespace
}  // namespace tenon
