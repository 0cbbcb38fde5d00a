#include "runtime/plan/list_items.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

// Lists of shapes and sizes: gradients of loops keep them, and their values decide shapes.
constexpr size_t kMostBytesOfValue = 256;

// A list with this tensor only.
ItemState ItemsLike(const TensorSpec& spec) {
  ItemState items;
  if (!spec.shape.IsComplete()) return items;
  items.shape = spec.shape;
  const Tensor* value = spec.value;
  if (value != nullptr && IsInteger(value->dtype()) && value->bytes() <= kMostBytesOfValue) {
    items.value = std::make_shared<const Tensor>(*value);
  }
  return items;
}

ItemState NewList(const Node& node, const TensorSpec& element_shape) {
  ItemState items{.none = true, .unset = node.op == "TensorListReserve"};
  if (element_shape.value == nullptr) return items;
  absl::StatusOr<Shape> shape = ElementShape(*element_shape.value);
  if (shape.ok() && shape->IsComplete()) items.shape = *std::move(shape);
  return items;
}

}  // namespace

ItemState ListItemsOf(const Node& node, absl::Span<PlanValue* const> inputs) {
  ItemState items;
  // op names: those that make lists or change them.
  if (node.op == "EmptyTensorList" || node.op == "TensorListReserve") {
    return NewList(node, inputs[0]->spec);
  }
  if (node.op == "TensorListFromTensor") {
    const absl::Span<const int64_t> dims = inputs[0]->spec.shape.dims();
    if (inputs[0]->spec.shape.IsComplete() && !dims.empty()) items.shape = Shape(dims.subspan(1));
  } else if (node.op == "TensorListSetItem") {
    items = inputs[0]->items.Or(ItemsLike(inputs[2]->spec));
    items.value = nullptr;
    items.unset = true;  // it may lengthen the list
  } else if (node.op == "TensorListPushBack") {
    items = inputs[0]->items.Or(ItemsLike(inputs[1]->spec));
  } else if (node.op == "TensorListPopBack") {
    items = inputs[0]->items;
  } else if (node.op == "ZerosLike" || node.op == "AddN") {
    const bool same = std::all_of(inputs.begin(), inputs.end(), [&](const PlanValue* in) {
      return in->items.shape == inputs[0]->items.shape;
    });
    if (same) items.shape = inputs[0]->items.shape;
  }
  if (!items.shape.IsComplete()) items.shape = Shape::Unknown();
  return items;
}

Shape StackOf(int64_t count, const Shape& item) {
  Shape stacked({count});
  for (const int64_t d : item.dims()) stacked.push_back(d);
  return stacked;
}

Shape StackedShape(const ItemState& items, const Shape& stated) {
  if (!items.shape.IsComplete() || stated.rank() != items.shape.rank() + 1) return stated;
  Shape stacked = StackOf(stated.dim(0), items.shape);
  return stacked.CompatibleWith(stated) ? stacked : stated;
}

}  // namespace tenon
