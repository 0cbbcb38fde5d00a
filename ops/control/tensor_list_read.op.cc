// Ops that read tensor lists: TensorListStack, GetItem, Gather, Concat(V2), Length, ElementShape.
#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/lists/read_list.h"
#include "kernels/lists/tensor_list.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status StackShape(ShapeContext& c) {
  if (c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Shape element, ElementShape(*c.value(1)));
  if (!element.has_rank()) return absl::OkStatus();
  Shape out({c.attrs().Int("num_elements", -1)});
  for (int64_t d : element.dims()) out.push_back(d);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration stack({
    .name = "TensorListStack",
    .inputs = "input_handle: variant, element_shape: int32",
    .outputs = "tensor: element_dtype",
    .attrs = "element_dtype: type; num_elements: int = -1",
    .shape = StackShape,
    .reference = StackListKernel,
});

absl::Status GatherShape(ShapeContext& c) {
  if (c.value(2) == nullptr || !c.input(1).has_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_ASSIGN_OR_RETURN(const Shape element, ElementShape(*c.value(2)));
  if (!element.has_rank()) return absl::OkStatus();
  Shape out({c.input(1).dim(0)});
  for (int64_t d : element.dims()) out.push_back(d);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration gather({
    .name = "TensorListGather",
    .inputs = "input_handle: variant, indices: int32, element_shape: int32",
    .outputs = "values: element_dtype",
    .attrs = "element_dtype: type",
    .shape = GatherShape,
    .reference = GatherListKernel,
});

absl::Status GetItemShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  if (c.value(2) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(Shape shape, ElementShape(*c.value(2)));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

const OpRegistration get_item({
    .name = "TensorListGetItem",
    .inputs = "input_handle: variant, index: int32, element_shape: int32",
    .outputs = "item: element_dtype",
    .attrs = "element_dtype: type",
    .shape = GetItemShape,
    .reference = GetListItemKernel,
});

const OpRegistration concat({
    .name = "TensorListConcat",
    .inputs = "input_handle: variant",
    .outputs = "tensor: element_dtype, lengths: int64",
    .attrs = "element_dtype: type; element_shape: shape = ?",
    .shape = UnknownShape,
    .reference = ConcatListKernel,
});

absl::Status ConcatShape(ShapeContext& c) {
  if (c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(Shape shape, ElementShape(*c.value(1)));
  if (shape.rank() < 1) return absl::OkStatus();
  shape.set_dim(0, -1);
  c.set_output(0, std::move(shape));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

const OpRegistration concat_v2({
    .name = "TensorListConcatV2",
    .inputs = "input_handle: variant, element_shape: shape_type, leading_dims: int64",
    .outputs = "tensor: element_dtype, lengths: int64",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ConcatShape,
    .reference = ConcatListKernel,
});

const OpRegistration length({
    .name = "TensorListLength",
    .inputs = "input_handle: variant",
    .outputs = "length: int32",
    .shape = ScalarShape,
    .reference = ListLengthKernel,
});

const OpRegistration element_shape({
    .name = "TensorListElementShape",
    .inputs = "input_handle: variant",
    .outputs = "element_shape: shape_type",
    .attrs = "shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = UnknownShape,
    .reference = ListElementShapeKernel,
});

}  // namespace
}  // namespace tenon
