// Ops that make tensor lists: EmptyTensorList, TensorListReserve, FromTensor, Split, Scatter(V2),
// and those that change one: SetItem, PushBack, PopBack, Resize, ScatterIntoExistingList,
// ConcatLists.
#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kMaxItems = int64_t{1} << 28;

void Give(RunContext& run, int output, std::shared_ptr<TensorList> list) {
  *run.output<ObjectPtr>(output) = std::move(list);
}

TensorSpec SpecOf(const PrepareContext& p, int i) {
  return {p.input_dtype(i), p.input_shape(i), nullptr};
}

absl::StatusOr<DType> ElementType(const PrepareContext& p) {
  return p.attrs().Type("element_dtype");
}

absl::Status CheckCount(int64_t n) {
  if (n >= 0 && n <= kMaxItems) return absl::OkStatus();
  return InvalidArgument("a list of ", n, " tensors");
}

// EmptyTensorList(element_shape, max_num_elements), TensorListReserve(element_shape, num_elements).
template <bool kReserve>
absl::StatusOr<std::unique_ptr<Kernel>> NewList(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, ElementType(p));
  return MakeKernel([dtype, shape = SpecOf(p, 0)](RunContext& run) -> absl::Status {
    auto list = std::make_shared<TensorList>();
    list->dtype = dtype;
    TENON_ASSIGN_OR_RETURN(list->element_shape, ElementShape(run, 0, shape));
    if (kReserve) {
      const int64_t n = *run.input<int32_t>(1);
      TENON_RETURN_IF_ERROR(CheckCount(n));
      list->items.resize(static_cast<size_t>(n));
    }
    Give(run, 0, std::move(list));
    return absl::OkStatus();
  });
}

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
    .reference = NewList<false>,
});

const OpRegistration reserve({
    .name = "TensorListReserve",
    .inputs = "element_shape: shape_type, num_elements: int32",
    .outputs = "handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = NewListShape,
    .reference = NewList<true>,
});

// The tensor and a new list of its dtype, with the element shape that input 1 (or 2) says.
struct Source {
  DType dtype;
  Shape shape;  // of the tensor
  TensorSpec element;
  int tensor_input, element_input;

  Source(const PrepareContext& p, int tensor, int element_shape)
      : dtype(p.input_dtype(tensor)),
        shape(p.input_shape(tensor)),
        tensor_input(tensor),
        element_input(element_shape) {
    if (element_shape >= 0) element = SpecOf(p, element_shape);
  }
  absl::Status Check() const {
    if (shape.rank() >= 1) return absl::OkStatus();
    return InvalidArgument("the tensor must have at least one dimension");
  }
  Shape RowShape() const {
    Shape row;
    for (int d = 1; d < shape.rank(); ++d) row.push_back(shape.dim(d));
    return row;
  }
  absl::StatusOr<std::shared_ptr<const Tensor>> Kept(const RunContext& run) const {
    return Keep(dtype, shape, run.input(tensor_input));
  }
  // `rows`: items are rows, else pieces along the first dimension.
  absl::StatusOr<std::shared_ptr<TensorList>> List(const RunContext& run, bool rows) const {
    auto list = std::make_shared<TensorList>();
    list->dtype = dtype;
    TENON_ASSIGN_OR_RETURN(list->element_shape, ElementShape(run, element_input, element));
    Shape item = RowShape();
    if (!rows) {
      item = Shape({-1});
      for (int d = 1; d < shape.rank(); ++d) item.push_back(shape.dim(d));
    }
    if (!list->element_shape.CompatibleWith(item)) {
      return InvalidArgument("elements of shape ", item.ToString(), " for a list of shape ",
                             list->element_shape.ToString());
    }
    return list;
  }
};

absl::StatusOr<std::unique_ptr<Kernel>> FromTensor(PrepareContext& p) {
  const Source source(p, 0, 1);
  TENON_RETURN_IF_ERROR(source.Check());
  return MakeKernel([source](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<TensorList> list, source.List(run, true));
    TENON_ASSIGN_OR_RETURN(const auto kept, source.Kept(run));
    list->Note(source.RowShape());
    for (int64_t i = 0; i < source.shape.dim(0); ++i) {
      list->items.push_back(RowsOf(kept, i, 1, /*single=*/true));
    }
    Give(run, 0, list);
    return absl::OkStatus();
  });
}

const OpRegistration from_tensor({
    .name = "TensorListFromTensor",
    .inputs = "tensor: element_dtype, element_shape: shape_type",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = FromTensor,
});

absl::StatusOr<std::unique_ptr<Kernel>> Split(PrepareContext& p) {
  const Source source(p, 0, 1);
  TENON_RETURN_IF_ERROR(source.Check());
  const int64_t pieces = p.input_shape(2).num_elements();
  return MakeKernel([source, pieces](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<TensorList> list, source.List(run, false));
    TENON_ASSIGN_OR_RETURN(const auto kept, source.Kept(run));
    const int64_t* lengths = run.input<int64_t>(2);
    int64_t begin = 0;
    for (int64_t i = 0; i < pieces; ++i) {
      if (lengths[i] < 0 || lengths[i] > source.shape.dim(0) - begin) {
        return InvalidArgument("lengths[", i, "] = ", lengths[i], " of ", source.shape.dim(0),
                               " rows, ", begin, " of which are taken");
      }
      list->items.push_back(RowsOf(kept, begin, lengths[i], /*single=*/false));
      begin += lengths[i];
    }
    if (begin != source.shape.dim(0)) {
      return InvalidArgument("the lengths add up to ", begin, ", but there are ",
                             source.shape.dim(0), " rows");
    }
    Give(run, 0, list);
    return absl::OkStatus();
  });
}

const OpRegistration split({
    .name = "TensorListSplit",
    .inputs = "tensor: element_dtype, element_shape: shape_type, lengths: int64",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = Split,
});

absl::Status PlaceRows(const Source& source, RunContext& run, int indices_input, int64_t count,
                       bool grow, TensorList& list) {
  if (source.shape.dim(0) < count) {
    return InvalidArgument(count, " indices for ", source.shape.dim(0), " rows");
  }
  TENON_ASSIGN_OR_RETURN(const auto kept, source.Kept(run));
  const int32_t* indices = run.input<int32_t>(indices_input);
  if (count > 0) list.Note(source.RowShape());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indices[i];
    if (index < 0 || index > kMaxItems ||
        (!grow && index >= static_cast<int64_t>(list.items.size()))) {
      return InvalidArgument("indices[", i, "] = ", index, " for a list of ", list.items.size(),
                             " tensors");
    }
    if (static_cast<size_t>(index) >= list.items.size()) {
      list.items.resize(static_cast<size_t>(index) + 1);
    }
    list.items[static_cast<size_t>(index)] = RowsOf(kept, i, 1, /*single=*/true);
  }
  return absl::OkStatus();
}

// TensorListScatter(tensor, indices, element_shape), V2 with num_elements (-1: as many as needed).
absl::StatusOr<std::unique_ptr<Kernel>> Scatter(PrepareContext& p) {
  const Source source(p, 0, 2);
  TENON_RETURN_IF_ERROR(source.Check());
  const int64_t count = p.input_shape(1).num_elements();
  const bool sized = p.num_inputs() == 4;
  return MakeKernel([source, count, sized](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<TensorList> list, source.List(run, true));
    int64_t n = sized ? *run.input<int32_t>(3) : -1;
    if (n < -1) return InvalidArgument("num_elements must be at least -1, but is ", n);
    if (n >= 0) TENON_RETURN_IF_ERROR(CheckCount(n));
    if (n > 0) list->items.resize(static_cast<size_t>(n));
    TENON_RETURN_IF_ERROR(PlaceRows(source, run, 1, count, /*grow=*/n < 0, *list));
    Give(run, 0, list);
    return absl::OkStatus();
  });
}

const OpRegistration scatter({
    .name = "TensorListScatter",
    .inputs = "tensor: element_dtype, indices: int32, element_shape: shape_type",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = Scatter,
});

const OpRegistration scatter_v2({
    .name = "TensorListScatterV2",
    .inputs =
        "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; shape_type: type",
    .types = "shape_type: int32 int64",
    .shape = ScalarShape,
    .reference = Scatter,
});

// A changed copy of the list of input 0.
template <typename Change>
absl::Status Changed(RunContext& run, DType dtype, Change change) {
  TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0), dtype));
  auto copy = std::make_shared<TensorList>(*list);
  TENON_RETURN_IF_ERROR(change(*copy));
  Give(run, 0, std::move(copy));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ScatterInto(PrepareContext& p) {
  const Source source(p, 1, -1);
  TENON_RETURN_IF_ERROR(source.Check());
  const int64_t count = p.input_shape(2).num_elements();
  return MakeKernel([source, count](RunContext& run) {
    return Changed(run, source.dtype, [&](TensorList& list) -> absl::Status {
      if (!list.element_shape.CompatibleWith(source.RowShape())) {
        return InvalidArgument("rows of shape ", source.RowShape().ToString(),
                               " for a list of shape ", list.element_shape.ToString());
      }
      return PlaceRows(source, run, 2, count, /*grow=*/true, list);
    });
  });
}

const OpRegistration scatter_into({
    .name = "TensorListScatterIntoExistingList",
    .inputs = "input_handle: variant, tensor: element_dtype, indices: int32",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type",
    .shape = ScalarShape,
    .reference = ScatterInto,
});

absl::Status CheckItem(const TensorList& list, const Shape& item) {
  if (list.element_shape.CompatibleWith(item)) return absl::OkStatus();
  return InvalidArgument("an item of shape ", item.ToString(), " for a list of shape ",
                         list.element_shape.ToString());
}

absl::StatusOr<std::unique_ptr<Kernel>> SetItem(PrepareContext& p) {
  const TensorSpec item = SpecOf(p, 2);
  const bool grow = p.attrs().Bool("resize_if_index_out_of_bounds", false);
  return MakeKernel([item, grow](RunContext& run) {
    return Changed(run, item.dtype, [&](TensorList& list) -> absl::Status {
      const int64_t index = *run.input<int32_t>(1);
      const int64_t size = static_cast<int64_t>(list.items.size());
      if (index < 0 || (index >= size && !grow)) {
        return InvalidArgument("index ", index, " of a list of ", size, " tensors");
      }
      TENON_RETURN_IF_ERROR(CheckItem(list, item.shape));
      if (index >= size) {
        TENON_RETURN_IF_ERROR(CheckCount(index + 1));
        list.items.resize(static_cast<size_t>(index) + 1);
      }
      list.Note(item.shape);
      TENON_ASSIGN_OR_RETURN(list.items[static_cast<size_t>(index)],
                             Keep(item.dtype, item.shape, run.input(2)));
      return absl::OkStatus();
    });
  });
}

const OpRegistration set_item({
    .name = "TensorListSetItem",
    .inputs = "input_handle: variant, index: int32, item: element_dtype",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type; resize_if_index_out_of_bounds: bool = false",
    .shape = ScalarShape,
    .reference = SetItem,
});

absl::StatusOr<std::unique_ptr<Kernel>> PushBack(PrepareContext& p) {
  const TensorSpec item = SpecOf(p, 1);
  return MakeKernel([item](RunContext& run) {
    return Changed(run, item.dtype, [&](TensorList& list) -> absl::Status {
      TENON_RETURN_IF_ERROR(CheckItem(list, item.shape));
      TENON_ASSIGN_OR_RETURN(auto kept, Keep(item.dtype, item.shape, run.input(1)));
      list.Note(item.shape);
      list.items.push_back(std::move(kept));
      return absl::OkStatus();
    });
  });
}

const OpRegistration push_back({
    .name = "TensorListPushBack",
    .inputs = "input_handle: variant, tensor: element_dtype",
    .outputs = "output_handle: variant",
    .attrs = "element_dtype: type",
    .shape = ScalarShape,
    .reference = PushBack,
});

absl::Status PopBackShape(ShapeContext& c) {
  c.set_output(0, Shape());
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(Shape shape, ElementShape(*c.value(1)));
    c.set_output(1, std::move(shape));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> PopBack(PrepareContext& p) {
  const DType dtype = p.output_dtype(1);
  return MakeKernel([dtype, element = SpecOf(p, 1), planned = p.output_shape(1)](RunContext& run) {
    return Changed(run, dtype, [&](TensorList& list) -> absl::Status {
      if (list.items.empty()) return InvalidArgument("the list is empty");
      TENON_ASSIGN_OR_RETURN(const Shape wanted, ElementShape(run, 1, element));
      Shape shape;
      const std::shared_ptr<const Tensor> item = list.items.back();
      if (item != nullptr) {
        shape = item->shape();
        if (!shape.CompatibleWith(wanted)) {
          return InvalidArgument("the last tensor has shape ", shape.ToString(), ", not ",
                                 wanted.ToString());
        }
      } else {
        TENON_ASSIGN_OR_RETURN(shape, list.ItemShape(wanted));
        if (!shape.IsComplete()) return InvalidArgument("nothing tells the last tensor's shape");
      }
      TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 1, planned, shape));
      WriteItem(item, dtype, shape.num_elements(), out);
      list.items.pop_back();
      return absl::OkStatus();
    });
  });
}

const OpRegistration pop_back({
    .name = "TensorListPopBack",
    .inputs = "input_handle: variant, element_shape: int32",
    .outputs = "output_handle: variant, tensor: element_dtype",
    .attrs = "element_dtype: type",
    .shape = PopBackShape,
    .reference = PopBack,
});

absl::StatusOr<std::unique_ptr<Kernel>> Resize(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    return Changed(run, DType::kInvalid, [&](TensorList& list) -> absl::Status {
      const int64_t n = *run.input<int32_t>(1);
      TENON_RETURN_IF_ERROR(CheckCount(n));
      list.items.resize(static_cast<size_t>(n));
      return absl::OkStatus();
    });
  });
}

const OpRegistration resize({
    .name = "TensorListResize",
    .inputs = "input_handle: variant, size: int32",
    .outputs = "output_handle: variant",
    .shape = NewListShape,
    .reference = Resize,
});

absl::StatusOr<std::unique_ptr<Kernel>> ConcatLists(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, ElementType(p));
  return MakeKernel([dtype](RunContext& run) {
    return Changed(run, dtype, [&](TensorList& list) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const TensorList* more, ListAt(run.input<ObjectPtr>(1), dtype));
      TENON_ASSIGN_OR_RETURN(list.element_shape,
                             MergeShapes(list.element_shape, more->element_shape));
      if (list.common != more->common) list.common = Shape::Unknown();
      list.items.insert(list.items.end(), more->items.begin(), more->items.end());
      return absl::OkStatus();
    });
  });
}

const OpRegistration concat_lists({
    .name = "TensorListConcatLists",
    .inputs = "input_a: variant, input_b: variant",
    .outputs = "output: variant",
    .attrs = "element_dtype: type",
    .shape = ScalarShape,
    .reference = ConcatLists,
});

}  // namespace
}  // namespace tenon
