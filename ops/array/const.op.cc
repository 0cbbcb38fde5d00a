// Const and Placeholder. Sessions bind both without running anything; Const's kernel is for eager
// calls and folding.
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> ValueOf(const Node& node) {
  const Tensor* value = node.attr<Tensor>("value");
  const DType* dtype = node.attr<DType>("dtype");
  if (value == nullptr || dtype == nullptr) return InvalidArgument("Const without value or dtype");
  if (value->dtype() != *dtype) {
    return InvalidArgument("the value is ", Name(value->dtype()), ", but dtype says ",
                           Name(*dtype));
  }
  return *value;
}

absl::Status ConstShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Tensor value, ValueOf(c.node()));
  c.set_output(0, value.shape());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ConstReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(Tensor value, ValueOf(p.node()));
  return MakeKernel([value](RunContext& run) {
    CopyElements(value.dtype(), value.raw(), run.output(0), value.num_elements());
    return absl::OkStatus();
  });
}

const OpRegistration const_op({
    .name = "Const",
    .outputs = "output: dtype",
    .attrs = "value: tensor; dtype: type",
    .shape = ConstShape,
    .reference = ConstReference,
    .import_role = ImportRole::kValue,
});

absl::Status PlaceholderShape(ShapeContext& c) {
  if (const Shape* shape = c.node().attr<Shape>("shape")) c.set_output(0, *shape);
  return absl::OkStatus();
}

const OpRegistration placeholder({
    .name = "Placeholder",
    .outputs = "output: dtype",
    .attrs = "dtype: type; shape: shape = ?",
    .shape = PlaceholderShape,
    .import_role = ImportRole::kValue,
});

// Import writes it as a Placeholder.
const OpRegistration placeholder_v2({
    .name = "PlaceholderV2",
    .outputs = "output: dtype",
    .attrs = "dtype: type; shape: shape",
    .shape = PlaceholderShape,
    .import_role = ImportRole::kValue,
});

}  // namespace
}  // namespace tenon
