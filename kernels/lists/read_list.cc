#include "kernels/lists/read_list.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

// The items' complete shape, which is needed to concatenate them.
absl::StatusOr<Shape> CompleteItemShape(const TensorList& list, const Shape& wanted) {
  TENON_ASSIGN_OR_RETURN(Shape shape, list.ItemShape(wanted));
  if (!shape.IsComplete()) {
    return InvalidArgument("the shape of the list's tensors is not known: ", shape.ToString());
  }
  return shape;
}

// Stacks items along a new first dimension.
absl::Status Stacked(RunContext& run, const TensorList& list, const Shape& wanted,
                     const Shape& planned, absl::Span<const int64_t> order) {
  TENON_ASSIGN_OR_RETURN(const Shape item, CompleteItemShape(list, wanted));
  Shape shape({static_cast<int64_t>(order.size())});
  for (int64_t d : item.dims()) shape.push_back(d);
  TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
  TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, shape));
  const int64_t n = item.num_elements();
  for (size_t i = 0; i < order.size(); ++i) {
    WriteItem(list.items[static_cast<size_t>(order[i])], list.dtype, n,
              ElementAddress(out, list.dtype, static_cast<int64_t>(i) * n));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> StackListKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const int64_t count = p.attrs().Int("num_elements", -1);
  return MakeKernel([dtype, count, element = InputSpec(p, 1),
                     planned = p.output_shape(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0), dtype));
    TENON_ASSIGN_OR_RETURN(const Shape wanted, ElementShape(run, 1, element));
    const int64_t n = static_cast<int64_t>(list->items.size());
    if (count >= 0 && count != n) {
      return InvalidArgument("expected ", count, " tensors in the list, but there are ", n);
    }
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    return Stacked(run, *list, wanted, planned, order);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> GatherListKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const int64_t count = p.input_shape(1).num_elements();
  return MakeKernel([dtype, count, element = InputSpec(p, 2),
                     planned = p.output_shape(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0), dtype));
    TENON_ASSIGN_OR_RETURN(const Shape wanted, ElementShape(run, 2, element));
    const int32_t* indices = run.input<int32_t>(1);
    const std::vector<int64_t> order(indices, indices + count);
    for (int64_t index : order) {
      if (index < 0 || index >= static_cast<int64_t>(list->items.size())) {
        return InvalidArgument("index ", index, " of a list of ", list->items.size(), " tensors");
      }
    }
    return Stacked(run, *list, wanted, planned, order);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> GetListItemKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  return MakeKernel([dtype, element = InputSpec(p, 2),
                     planned = p.output_shape(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0), dtype));
    const int64_t index = *run.input<int32_t>(1);
    if (index < 0 || index >= static_cast<int64_t>(list->items.size())) {
      return InvalidArgument("index ", index, " of a list of ", list->items.size(), " tensors");
    }
    TENON_ASSIGN_OR_RETURN(const Shape wanted, ElementShape(run, 2, element));
    const std::shared_ptr<const Tensor>& item = list->items[static_cast<size_t>(index)];
    Shape shape;
    if (item == nullptr) {
      TENON_ASSIGN_OR_RETURN(shape, CompleteItemShape(*list, wanted));
    } else if (item->shape().CompatibleWith(wanted)) {
      shape = item->shape();
    } else {
      return InvalidArgument("tensor ", index, " has shape ", item->shape().ToString(), ", not ",
                             wanted.ToString());
    }
    TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, shape));
    WriteItem(item, dtype, shape.num_elements(), out);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ConcatListKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const bool v2 = p.num_inputs() == 3;
  const TensorSpec element = v2 ? InputSpec(p, 1) : TensorSpec{};
  const int64_t leading = v2 ? p.input_shape(2).num_elements() : 0;
  Shape stated = Shape::Unknown();
  if (!v2) {
    TENON_ASSIGN_OR_RETURN(stated, p.attrs().ShapeOf("element_shape"));
  }
  return MakeKernel([=, planned = p.output_shape(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0), dtype));
    Shape wanted = stated;
    if (v2) {
      TENON_ASSIGN_OR_RETURN(wanted, ElementShape(run, 1, element));
    }
    TENON_ASSIGN_OR_RETURN(wanted, MergeShapes(wanted, list->element_shape));
    for (const auto& item : list->items) {
      if (item == nullptr) continue;
      if (item->shape().rank() < 1 || !item->shape().CompatibleWith(wanted)) {
        return InvalidArgument("an item of shape ", item->shape().ToString(),
                               " where the others have ", wanted.ToString());
      }
      Shape rest = item->shape();
      rest.set_dim(0, -1);
      if (!wanted.has_rank()) wanted = rest;
      Shape general = wanted;
      general.set_dim(0, -1);
      TENON_ASSIGN_OR_RETURN(rest, MergeShapes(general, rest));
      rest.set_dim(0, wanted.dim(0));
      wanted = rest;
    }
    int64_t row = 1;
    for (int d = 1; wanted.has_rank() && d < wanted.rank(); ++d) row *= wanted.dim(d);
    if (!wanted.has_rank() || wanted.rank() < 1 || row < 0) {
      return InvalidArgument("the shape of the list's tensors is not known: ", wanted.ToString());
    }
    const int64_t n = static_cast<int64_t>(list->items.size());
    std::vector<int64_t> lengths;
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto& item = list->items[static_cast<size_t>(i)];
      int64_t length = wanted.dim(0);
      if (item != nullptr) {
        length = item->shape().dim(0);
      } else if (length < 0 && v2 && i < leading) {
        length = run.input<int64_t>(2)[i];
      }
      if (length < 0) return InvalidArgument("tensor ", i, " is not set, and has no length");
      if (__builtin_add_overflow(total, length, &total)) return InvalidArgument("too many rows");
      lengths.push_back(length);
    }
    Shape shape = wanted;
    shape.set_dim(0, total);
    TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, shape));
    TENON_ASSIGN_OR_RETURN(void* lengths_out, run.AllocateOutput(1, Shape({n})));
    int64_t begin = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      WriteItem(list->items[i], dtype, lengths[i] * row, ElementAddress(out, dtype, begin * row));
      begin += lengths[i];
    }
    std::copy(lengths.begin(), lengths.end(), static_cast<int64_t*>(lengths_out));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ListLengthKernel(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0)));
    *run.output<int32_t>(0) = static_cast<int32_t>(list->items.size());
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ListElementShapeKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  return MakeKernel([dtype](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(run.input<ObjectPtr>(0)));
    std::vector<int64_t> dims = {-1};
    Shape shape;
    if (list->element_shape.has_rank()) {
      dims.assign(list->element_shape.dims().begin(), list->element_shape.dims().end());
      shape = Shape({static_cast<int64_t>(dims.size())});
    }
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, shape));
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dtype == DType::kInt32) {
        static_cast<int32_t*>(out)[i] = static_cast<int32_t>(dims[i]);
      } else {
        static_cast<int64_t*>(out)[i] = dims[i];
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
