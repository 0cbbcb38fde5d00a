#include "runtime/execution/handle_items.h"

#include <cstring>
#include <utility>

#include "env/status.h"
#include "graph/object.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

class PlannedItems final : public HasItems {
 public:
  explicit PlannedItems(ItemState state) : state_(std::move(state)) {}
  Shape CommonShape() const override { return state_.shape; }
  bool empty() const override { return state_.none; }
  absl::StatusOr<std::shared_ptr<const Tensor>> TakeItem(int64_t, DType) override {
    return Internal("a handle of planning was run");
  }
  const ItemState& state() const { return state_; }

 private:
  const ItemState state_;
};

bool AreSame(const Tensor* a, const Tensor* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->dtype() == b->dtype() && a->shape() == b->shape() &&
         (a->bytes() == 0 || std::memcmp(a->raw(), b->raw(), a->bytes()) == 0);
}

}  // namespace

bool ItemState::operator==(const ItemState& other) const {
  return shape == other.shape && none == other.none && unset == other.unset &&
         AreSame(value.get(), other.value.get());
}

ItemState ItemState::Or(const ItemState& other) const {
  ItemState either = none ? other : *this;
  either.unset = unset || other.unset;
  if (!none && !other.none) {
    if (shape != other.shape) either.shape = Shape::Unknown();
    if (!AreSame(value.get(), other.value.get())) either.value = nullptr;
  }
  if (either.unset) either.value = nullptr;
  return either;
}

absl::StatusOr<Tensor> PlannedHandle(DType dtype, const ItemState& items) {
  return ObjectTensor(dtype, std::make_shared<PlannedItems>(items));
}

ItemState ItemStateOf(const Tensor& handle) {
  if (HoldsItems(handle) && handle.raw() != nullptr && handle.num_elements() == 1) {
    const auto* planned = dynamic_cast<const PlannedItems*>(handle.data<ObjectPtr>()->get());
    if (planned != nullptr) return planned->state();
  }
  return {CommonItemShape(handle), false};
}

bool HoldsItems(const Tensor& t) {
  if (t.dtype() == DType::kVariant) return true;
  return t.dtype() == DType::kResource && t.raw() != nullptr && t.num_elements() == 1 &&
         dynamic_cast<const HasItems*>(t.data<ObjectPtr>()->get()) != nullptr;
}

HandleOp HandleOpOf(const Node& node) {
  struct Row {
    const char* op;
    HandleOp use;
  };
  // op names: those of stacks and tensor arrays.
  static constexpr Row kRows[] = {
      {"StackV2", {HandleUse::kMakes}},
      {"StackPushV2", {HandleUse::kPuts, 1}},
      {"StackPopV2", {HandleUse::kTakes}},
      {"TensorArrayV3", {HandleUse::kMakes}},
      {"TensorArrayGradV3", {HandleUse::kPasses}},
      {"TensorArrayWriteV3", {HandleUse::kPuts, 2}},
      {"TensorArrayScatterV3", {HandleUse::kPutsRows, 2}},
      {"TensorArraySplitV3", {HandleUse::kPutsMore}},
      {"TensorArrayReadV3", {HandleUse::kTakes}},
      {"TensorArrayGatherV3", {HandleUse::kGathers}},
  };
  const bool candidate = node.op.starts_with("Stack") || node.op.starts_with("TensorArray");
  if (!candidate) return {};
  for (const Row& row : kRows) {
    if (node.op == row.op) return row.use;
  }
  return {};
}

}  // namespace tenon
