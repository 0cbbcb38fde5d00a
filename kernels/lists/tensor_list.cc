#include "kernels/lists/tensor_list.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "env/status.h"
#include "kernels/layout/copy.h"

namespace tenon {

absl::StatusOr<Shape> TensorList::ItemShape(const Shape& wanted) const {
  auto merged = MergeShapes(element_shape, wanted);
  for (size_t i = 0; merged.ok() && i < items.size(); ++i) {
    if (items[i] != nullptr) merged = MergeShapes(*merged, items[i]->shape());
  }
  if (merged.ok()) return merged;
  return InvalidArgument("the list's tensors have shape ", element_shape.ToString(),
                         " and must all have one that agrees with ", wanted.ToString(), ": ",
                         merged.status().message());
}

bool TensorList::HasNoneSet() const {
  return std::all_of(items.begin(), items.end(),
                     [](const std::shared_ptr<const Tensor>& t) { return t == nullptr; });
}

void TensorList::Note(const Shape& item) {
  if (HasNoneSet()) common = item;
  if (common != item) common = Shape::Unknown();
}

Shape CommonItemShape(const Tensor& handle) {
  if (!HoldsObjects(handle.dtype()) || handle.raw() == nullptr || handle.shape().rank() != 0) {
    return Shape::Unknown();
  }
  const Object* const object = handle.data<ObjectPtr>()->get();
  if (const auto* list = dynamic_cast<const TensorList*>(object)) {
    return list->element_shape.IsComplete() ? list->element_shape : list->common;
  }
  const auto* holder = dynamic_cast<const HasItems*>(object);
  return holder == nullptr ? Shape::Unknown() : holder->CommonShape();
}

bool HasOnlyItemsOf(const Tensor& handle, const Shape& shape) {
  if (handle.raw() == nullptr || handle.num_elements() != 1) return false;
  const Object* const object = handle.data<ObjectPtr>()->get();
  if (const auto* list = dynamic_cast<const TensorList*>(object)) {
    return CommonItemShape(handle) == shape ||
           (!list->element_shape.IsComplete() && list->HasNoneSet());
  }
  const auto* holder = dynamic_cast<const HasItems*>(object);
  return holder != nullptr && (holder->empty() || holder->CommonShape() == shape);
}

absl::StatusOr<const TensorList*> ListAt(const ObjectPtr* handle, DType dtype) {
  const auto* list = handle == nullptr ? nullptr : dynamic_cast<const TensorList*>(handle->get());
  if (list == nullptr) return InvalidArgument("expected the handle of a tensor list");
  if (dtype != DType::kInvalid && list->dtype != dtype) {
    return InvalidArgument("expected a list of ", Name(dtype), ", but it is of ",
                           Name(list->dtype));
  }
  return list;
}

absl::StatusOr<Shape> ElementShape(const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, IntegerValues(value));
  if (value.shape().rank() == 0) {
    if (dims[0] != -1) return InvalidArgument("a scalar element shape must be -1, not ", dims[0]);
    return Shape::Unknown();
  }
  if (value.shape().rank() != 1) return InvalidArgument("the element shape must be a vector");
  for (int64_t d : dims) {
    if (d < -1) return InvalidArgument("the element shape has a dimension of ", d);
  }
  return Shape(dims);
}

absl::StatusOr<Shape> ElementShape(const RunContext& run, int i, const TensorSpec& spec) {
  return ElementShape(
      Tensor::FromExternal(spec.dtype, spec.shape, const_cast<void*>(run.input(i)), nullptr));
}

absl::Status CheckItem(const TensorList& list, const Shape& item) {
  if (list.element_shape.CompatibleWith(item)) return absl::OkStatus();
  return InvalidArgument("an item of shape ", item.ToString(), " for a list of shape ",
                         list.element_shape.ToString());
}

absl::StatusOr<void*> OutputOfShape(RunContext& run, int i, const Shape& planned,
                                    const Shape& actual) {
  if (!planned.IsComplete()) return run.AllocateOutput(i, actual);
  if (planned == actual) return run.output(i);
  return InvalidArgument("output ", i, " must have shape ", planned.ToString(), ", but has ",
                         actual.ToString());
}

absl::StatusOr<std::shared_ptr<const Tensor>> Keep(DType dtype, const Shape& shape,
                                                   const void* data) {
  TENON_ASSIGN_OR_RETURN(
      Tensor t, Tensor::FromExternal(dtype, shape, const_cast<void*>(data), nullptr).Clone());
  return std::make_shared<const Tensor>(std::move(t));
}

std::shared_ptr<const Tensor> RowsOf(const std::shared_ptr<const Tensor>& kept, int64_t begin,
                                     int64_t rows, bool single) {
  Shape shape;
  if (!single) shape.push_back(rows);
  int64_t row = 1;
  for (int d = 1; d < kept->shape().rank(); ++d) {
    shape.push_back(kept->shape().dim(d));
    row *= kept->shape().dim(d);
  }
  void* data = ElementAddress(const_cast<void*>(kept->raw()), kept->dtype(), begin * row);
  return std::make_shared<const Tensor>(Tensor::FromExternal(kept->dtype(), shape, data, kept));
}

void WriteItem(const std::shared_ptr<const Tensor>& item, DType dtype, int64_t elements,
               void* out) {
  if (item != nullptr) {
    CopyElements(dtype, item->raw(), out, elements);
  } else if (dtype == DType::kString) {
    std::fill_n(static_cast<std::string*>(out), elements, std::string());
  } else if (HoldsObjects(dtype)) {
    std::fill_n(static_cast<ObjectPtr*>(out), elements, nullptr);
  } else if (elements > 0) {
    std::memset(out, 0, static_cast<size_t>(elements) * SizeOf(dtype));
  }
}

absl::StatusOr<std::vector<std::shared_ptr<const Tensor>>> KeepInputs(
    const RunContext& run, const std::vector<TensorSpec>& specs) {
  std::vector<std::shared_ptr<const Tensor>> kept;
  for (size_t i = 0; i < specs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(auto item,
                           Keep(specs[i].dtype, specs[i].shape, run.input(static_cast<int>(i))));
    kept.push_back(std::move(item));
  }
  return kept;
}

absl::Status WriteItems(RunContext& run, const char* what,
                        const std::vector<std::shared_ptr<const Tensor>>& items,
                        const std::vector<TensorSpec>& outputs) {
  if (items.size() != outputs.size()) {
    return InvalidArgument("the ", what, " has ", items.size(), " tensors; expected ",
                           outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::shared_ptr<const Tensor>& item = items[i];
    const TensorSpec& wanted = outputs[i];
    if (item->dtype() != wanted.dtype || !item->shape().CompatibleWith(wanted.shape)) {
      return InvalidArgument("tensor ", i, " of the ", what, " is ", Name(item->dtype()),
                             item->shape().ToString(), "; expected ", Name(wanted.dtype),
                             wanted.shape.ToString());
    }
    TENON_ASSIGN_OR_RETURN(void* out,
                           OutputOfShape(run, static_cast<int>(i), wanted.shape, item->shape()));
    WriteItem(item, wanted.dtype, item->num_elements(), out);
  }
  return absl::OkStatus();
}

}  // namespace tenon
