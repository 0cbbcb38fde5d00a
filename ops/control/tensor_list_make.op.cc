// Ops that create tensor lists: EmptyTensorList, TensorListReserve, FromTensor, Split, Scatter(V2),
// and those that change one: SetItem, PushBack(Batch), PopBack, Resize, ScatterIntoExistingList,
// ConcatLists.
#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/lists/make_list.h"
#include "kernels/lists/tensor_list.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status NewListShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  return ScalarShape(c);
}

const OpRegistration empty_list({
    .name = "EmptyTensorList",
    .inputs = "element_shape: shape_type, max_num_elements: int32",
    .outputs = "handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = NewListShape,
    .reference = EmptyListKernel,
});

const OpRegistration reserve({
    .name = "TensorListReserve",
    .inputs = "element_shape: shape_type, num_elements: int32",
    .outputs = "handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = NewListShape,
    .reference = ReservedListKernel,
});

const OpRegistration from_tensor({
    .name = "TensorListFromTensor",
    .inputs = "tensor: element_dtype, element_shape: shape_type",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = ListFromTensorKernel,
});

const OpRegistration split({
    .name = "TensorListSplit",
    .inputs = "tensor: element_dtype, element_shape: shape_type, lengths: int64",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = SplitToListKernel,
});

const OpRegistration scatter({
    .name = "TensorListScatter",
    .inputs = "tensor: element_dtype, indices: int32, element_shape: shape_type",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = ScatterToListKernel,
});

const OpRegistration scatter_v2({
    .name = "TensorListScatterV2",
    .inputs =
        "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = ScatterToListKernel,
});

const OpRegistration scatter_into({
    .name = "TensorListScatterIntoExistingList",
    .inputs = "input_handle: variant, tensor: element_dtype, indices: int32",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type",
    .shape = ScalarShape,
    .reference = ScatterIntoListKernel,
});

const OpRegistration set_item({
    .name = "TensorListSetItem",
    .inputs = "input_handle: variant, index: int32, item: element_dtype",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; resize_if_index_out_of_bounds: bool = false",
    .shape = ScalarShape,
    .reference = SetListItemKernel,
});

const OpRegistration push_back({
    .name = "TensorListPushBack",
    .inputs = "input_handle: variant, tensor: element_dtype",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type",
    .shape = ScalarShape,
    .reference = PushBackKernel,
});

absl::Status PushBackBatchShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  const Shape &lists = c.input(0), &rows = c.input(1);
  if (rows.has_rank() && rows.rank() == 0) return InvalidArgument("the tensor has no rows");
  if (lists.has_rank() && rows.has_rank() && lists.dim(0) >= 0 && rows.dim(0) >= 0 &&
      lists.dim(0) != rows.dim(0)) {
    return InvalidArgument(lists.dim(0), " lists and ", rows.dim(0), " rows");
  }
  c.set_output(0, lists.has_rank() ? lists : Shape({-1}));
  return absl::OkStatus();
}

const OpRegistration push_back_batch({
    .name = "TensorListPushBackBatch",
    .inputs = "input_handles: variant, tensor: element_dtype",
    .outputs = "output_handles: variant",
    .attrs = "element_dtype: type",
    .shape = PushBackBatchShape,
    .reference = PushBackBatchKernel,
});

absl::Status PopBackShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ScalarShape(c));
  c.set_output(1, Shape::Unknown());
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(Shape shape, ElementShape(*c.value(1)));
    c.set_output(1, std::move(shape));
  }
  return absl::OkStatus();
}

const OpRegistration pop_back({
    .name = "TensorListPopBack",
    .inputs = "input_handle: variant, element_shape: int32",
    .outputs = "output_handle: variant, tensor: element_dtype",
    .attrs = "element_dtype: type",
    .shape = PopBackShape,
    .reference = PopBackKernel,
});

const OpRegistration resize({
    .name = "TensorListResize",
    .inputs = "input_handle: variant, size: int32",
    .outputs = "output_handle: variant",
    .shape = NewListShape,
    .reference = ResizeListKernel,
});

const OpRegistration concat_lists({
    .name = "TensorListConcatLists",
    .inputs = "input_a: variant, input_b: variant",
    .outputs = "output: variant",
    .attrs = "element_dtype: type",
    .shape = ScalarShape,
    .reference = ConcatListsKernel,
});

}  // namespace
}  // namespace tenon
