#include "runtime/execution/execution.h"

#include <memory>
#include <utility>

#include "env/status.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> InShape(const Tensor& t, const Shape& shape) {
  if (t.shape() == shape) return t;
  return t.Reshaped(shape);
}

}  // namespace

void* FixedAddress(const FlatPlan& plan, const ExecState& state, const Buffer& buffer) {
  const size_t index = static_cast<size_t>(buffer.index);
  switch (buffer.kind) {
    case Buffer::Kind::kConstant:
      // Kernels only read from input positions.
      return static_cast<char*>(const_cast<void*>(plan.constants[index].raw())) +
             buffer.part_offset;
    case Buffer::Kind::kArena:
      return state.arena.data() + buffer.offset + buffer.part_offset;
    case Buffer::Kind::kStrings:
      return const_cast<void*>(state.strings[index].raw());
    default:
      return nullptr;
  }
}

absl::StatusOr<Tensor> Execution::PartOf(const StepArg& arg, const Buffer& buffer) const {
  const size_t index = static_cast<size_t>(buffer.index);
  const Tensor* whole = nullptr;
  if (buffer.kind == Buffer::Kind::kHeld) whole = &state.dynamic[index];
  if (buffer.kind == Buffer::Kind::kFeed) whole = &feeds[index];
  if (buffer.kind == Buffer::Kind::kOutput) whole = &state.outputs[index];
  if (whole == nullptr) {
    return Tensor::FromExternal(arg.dtype, arg.shape, FixedAddress(plan, state, buffer), nullptr);
  }
  if (!whole->valid()) return Internal("a tensor is read before it is made");
  char* const data = static_cast<char*>(const_cast<void*>(whole->raw())) + buffer.part_offset;
  // An argument may be a view of its caller's arena; so its parts own nothing, either.
  std::shared_ptr<const Tensor> owner;
  if (whole->HasOwner()) owner = std::make_shared<const Tensor>(*whole);
  return Tensor::FromExternal(arg.dtype, arg.shape, data, std::move(owner));
}

absl::StatusOr<Tensor> Execution::View(const StepArg& arg) const {
  const Buffer& buffer = BufferOf(arg);
  if (buffer.part) return PartOf(arg, buffer);
  const size_t index = static_cast<size_t>(buffer.index);
  switch (buffer.kind) {
    case Buffer::Kind::kDynamic:
      if (!state.dynamic[index].valid()) return Internal("a tensor is read before it is made");
      return state.dynamic[index];
    case Buffer::Kind::kHeld:
      if (!state.dynamic[index].valid()) return Internal("a tensor is read before it is made");
      return InShape(state.dynamic[index], arg.shape);
    case Buffer::Kind::kFeed:
      if (!arg.shape.IsComplete()) return feeds[index];
      return InShape(feeds[index], arg.shape);
    case Buffer::Kind::kOutput:
      return InShape(state.outputs[index], arg.shape);
    case Buffer::Kind::kConstant:
      // A function may pass it on, and its caller may outlive this plan.
      return InShape(plan.constants[index], arg.shape);
    default:
      return Tensor::FromExternal(arg.dtype, arg.shape, FixedAddress(plan, state, buffer), nullptr);
  }
}

absl::StatusOr<std::vector<Tensor>> Execution::Views(absl::Span<const StepArg> args) const {
  std::vector<Tensor> views;
  views.reserve(args.size());
  for (const StepArg& arg : args) {
    TENON_ASSIGN_OR_RETURN(Tensor t, View(arg));
    views.push_back(std::move(t));
  }
  return views;
}

Tensor* Execution::Slot(Buffer::Kind kind, int index) {
  const size_t i = static_cast<size_t>(index);
  switch (kind) {
    case Buffer::Kind::kDynamic:
    case Buffer::Kind::kHeld:
      return &state.dynamic[i];
    case Buffer::Kind::kFeed:
      return owned_feeds.empty() ? nullptr : &owned_feeds[i];
    case Buffer::Kind::kOutput:
      return &state.outputs[i];
    default:
      return nullptr;
  }
}

absl::StatusOr<Tensor> Execution::Take(const StepArg& arg) {
  const Buffer& buffer = BufferOf(arg);
  Tensor* const slot = arg.last_read ? Slot(buffer.kind, buffer.index) : nullptr;
  if (slot == nullptr || !slot->valid()) return View(arg);
  Tensor t = std::exchange(*slot, Tensor());
  // In a plan for many shapes, that of a feed is known only here.
  if (buffer.kind == Buffer::Kind::kDynamic || !arg.shape.IsComplete()) return t;
  return InShape(t, arg.shape);
}

void Execution::BringAt(int dynamic, Tensor t) {
  const size_t index = static_cast<size_t>(dynamic);
  for (const PointerPatch& patch : plan.held_pointers[index]) {
    state.pointers[static_cast<size_t>(patch.position)] =
        static_cast<char*>(t.raw()) + patch.offset;
  }
  state.dynamic[index] = std::move(t);
}

}  // namespace tenon
