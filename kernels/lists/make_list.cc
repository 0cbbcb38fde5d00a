#include "kernels/lists/make_list.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/changed_object.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

constexpr int64_t kMaxItems = int64_t{1} << 28;

void Give(RunContext& run, int output, std::shared_ptr<TensorList> list) {
  *run.output<ObjectPtr>(output) = std::move(list);
}

absl::StatusOr<DType> ElementType(const PrepareContext& p) {
  return p.attrs().Type("element_dtype");
}

absl::Status CheckCount(int64_t n) {
  if (n >= 0 && n <= kMaxItems) return absl::OkStatus();
  return InvalidArgument("a list of ", n, " tensors");
}

// A list with that many items, and the element shape from input 0.
absl::StatusOr<std::unique_ptr<Kernel>> NewList(PrepareContext& p,
                                                int32_t (*count)(const RunContext&)) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, ElementType(p));
  return MakeKernel([dtype, count, shape = InputSpec(p, 0)](RunContext& run) -> absl::Status {
    auto list = std::make_shared<TensorList>();
    list->dtype = dtype;
    TENON_ASSIGN_OR_RETURN(list->element_shape, ElementShape(run, 0, shape));
    const int64_t n = count(run);
    TENON_RETURN_IF_ERROR(CheckCount(n));
    list->items.resize(static_cast<size_t>(n));
    Give(run, 0, std::move(list));
    return absl::OkStatus();
  });
}

// The tensor, and a new list with its dtype and the element shape from input 1 (or 2).
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
    if (element_shape >= 0) element = InputSpec(p, element_shape);
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
  // `rows`: items are rows; otherwise pieces along the first dimension.
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

// Changes the list of input 0 or a copy of it (changed_object.h).
template <typename Change>
absl::Status Changed(RunContext& run, DType dtype, Change change) {
  TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0), dtype));
  return ChangeObject(run, *list, change);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ListFromTensorKernel(PrepareContext& p) {
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

absl::StatusOr<std::unique_ptr<Kernel>> SplitToListKernel(PrepareContext& p) {
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

absl::StatusOr<std::unique_ptr<Kernel>> ScatterToListKernel(PrepareContext& p) {
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

absl::StatusOr<std::unique_ptr<Kernel>> ScatterIntoListKernel(PrepareContext& p) {
  const Source source(p, 1, -1);
  TENON_RETURN_IF_ERROR(source.Check());
  const int64_t count = p.input_shape(2).num_elements();
  p.AllowInPlace(0, 0);
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

absl::StatusOr<std::unique_ptr<Kernel>> SetListItemKernel(PrepareContext& p) {
  const TensorSpec item = InputSpec(p, 2);
  const bool grow = p.attrs().Bool("resize_if_index_out_of_bounds", false);
  p.AllowInPlace(0, 0);
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

absl::StatusOr<std::unique_ptr<Kernel>> PushBackKernel(PrepareContext& p) {
  const TensorSpec item = InputSpec(p, 1);
  p.AllowInPlace(0, 0);
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

absl::StatusOr<std::unique_ptr<Kernel>> PushBackBatchKernel(PrepareContext& p) {
  const DType dtype = p.input_dtype(1);
  const int64_t lists = p.input_shape(0).num_elements();
  Shape item;
  for (int d = 1; d < p.input_shape(1).rank(); ++d) item.push_back(p.input_shape(1).dim(d));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    for (int64_t i = 0; i < lists; ++i) {
      TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0) + i, dtype));
      TENON_RETURN_IF_ERROR(CheckItem(*list, item));
      auto longer = std::make_shared<TensorList>(*list);
      const void* data =
          ElementAddress(const_cast<void*>(run.input(1)), dtype, i * item.num_elements());
      TENON_ASSIGN_OR_RETURN(auto kept, Keep(dtype, item, data));
      longer->Note(item);
      longer->items.push_back(std::move(kept));
      run.output<ObjectPtr>(0)[i] = std::move(longer);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> PopBackKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(1);
  p.AllowInPlace(0, 0);
  return MakeKernel(
      [dtype, element = InputSpec(p, 1), planned = p.output_shape(1)](RunContext& run) {
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
            if (!shape.IsComplete())
              return InvalidArgument("nothing tells the last tensor's shape");
          }
          TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 1, planned, shape));
          WriteItem(item, dtype, shape.num_elements(), out);
          list.items.pop_back();
          return absl::OkStatus();
        });
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeListKernel(PrepareContext& p) {
  p.AllowInPlace(0, 0);
  return MakeKernel([](RunContext& run) {
    return Changed(run, DType::kInvalid, [&](TensorList& list) -> absl::Status {
      const int64_t n = *run.input<int32_t>(1);
      TENON_RETURN_IF_ERROR(CheckCount(n));
      list.items.resize(static_cast<size_t>(n));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ConcatListsKernel(PrepareContext& p) {
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

absl::StatusOr<std::unique_ptr<Kernel>> EmptyListKernel(PrepareContext& p) {
  return NewList(p, [](const RunContext&) { return 0; });
}

absl::StatusOr<std::unique_ptr<Kernel>> ReservedListKernel(PrepareContext& p) {
  return NewList(p, [](const RunContext& run) { return *run.input<int32_t>(1); });
}

}  // namespace tenon
