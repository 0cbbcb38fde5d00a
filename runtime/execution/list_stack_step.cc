#include "runtime/execution/list_stack_step.h"

#include <memory>
#include <utility>

#include "env/status.h"
#include "graph/object.h"
#include "kernels/lists/tensor_list.h"
#include "runtime/execution/execution.h"

namespace tenon {
namespace {

// A handle whose list the step may change: the one given, if the run has no other, or one of a
// copy.
struct OwnList {
  Tensor handle;
  TensorList* list = nullptr;
};
absl::StatusOr<OwnList> TakeList(Execution& run, const StepArg& arg, DType dtype) {
  OwnList own;
  TENON_ASSIGN_OR_RETURN(own.handle, run.Take(arg));
  const ObjectPtr* const object = own.handle.data<ObjectPtr>();
  TENON_ASSIGN_OR_RETURN(const TensorList* const list, ListAt(object, dtype));
  if (own.handle.OwnsAlone() && object->use_count() == 1) {
    own.list = const_cast<TensorList*>(list);
    return own;
  }
  auto copy = std::make_shared<TensorList>(*list);
  own.list = copy.get();
  TENON_ASSIGN_OR_RETURN(own.handle, ObjectTensor(DType::kVariant, std::move(copy)));
  return own;
}

}  // namespace

absl::Status ListPushStep::Run(Execution& run) const {
  const StepArg& arg = inputs()[1];
  TENON_ASSIGN_OR_RETURN(Tensor item, run.View(arg));
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(run, inputs()[0], arg.dtype));
  TENON_RETURN_IF_ERROR(CheckItem(*own.list, item.shape()));
  // The caller gets outputs, and later steps write to the arena.
  const Buffer::Kind kind = run.BufferOf(arg).kind;
  if (!item.HasOwner() || kind == Buffer::Kind::kOutput) {
    TENON_ASSIGN_OR_RETURN(item, item.Clone());
  }
  own.list->Note(item.shape());
  own.list->items.push_back(std::make_shared<const Tensor>(std::move(item)));
  run.Bring(outputs()[0], std::move(own.handle));
  return absl::OkStatus();
}

absl::Status ListPopStep::Run(Execution& run) const {
  const StepArg& out = outputs()[1];
  TENON_ASSIGN_OR_RETURN(const Tensor wanted_value, run.View(inputs()[1]));
  TENON_ASSIGN_OR_RETURN(const Shape wanted, ElementShape(wanted_value));
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(run, inputs()[0], out.dtype));
  if (own.list->items.empty()) return InvalidArgument("the list is empty");
  Tensor item;
  if (const std::shared_ptr<const Tensor>& last = own.list->items.back(); last != nullptr) {
    item = *last;
  } else {
    TENON_ASSIGN_OR_RETURN(item, Tensor::Allocate(out.dtype, out.shape));
    WriteItem(nullptr, out.dtype, item.num_elements(), item.raw());
  }
  if (item.shape() != out.shape || !wanted.CompatibleWith(out.shape)) {
    return InvalidArgument(
        "the last tensor has shape ", item.shape().ToString(), ", not ",
        wanted.CompatibleWith(out.shape) ? out.shape.ToString() : wanted.ToString());
  }
  own.list->items.pop_back();
  run.Bring(out, std::move(item));
  run.Bring(outputs()[0], std::move(own.handle));
  return absl::OkStatus();
}

}  // namespace tenon
