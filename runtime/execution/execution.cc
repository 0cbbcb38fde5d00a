#include "runtime/execution/execution.h"

#include <utility>

#include "env/status.h"

namespace tenon {

void* FixedAddress(const FlatPlan& plan, const ExecState& state, const Buffer& buffer) {
  const size_t index = static_cast<size_t>(buffer.index);
  switch (buffer.kind) {
    case Buffer::Kind::kConstant:
      // Kernels only read from input positions.
      return const_cast<void*>(plan.constants[index].raw());
    case Buffer::Kind::kArena:
      return state.arena.data() + buffer.offset;
    case Buffer::Kind::kStrings:
      return const_cast<void*>(state.strings[index].raw());
    default:
      return nullptr;
  }
}

absl::StatusOr<Tensor> Execution::View(const StepArg& arg) const {
  const Buffer& buffer = BufferOf(arg);
  const size_t index = static_cast<size_t>(buffer.index);
  switch (buffer.kind) {
    case Buffer::Kind::kDynamic:
      if (!state.dynamic[index].valid()) return Internal("a tensor is read before it is made");
      return state.dynamic[index];
    case Buffer::Kind::kHeld:
      if (!state.dynamic[index].valid()) return Internal("a tensor is read before it is made");
      return state.dynamic[index].Reshaped(arg.shape);
    case Buffer::Kind::kFeed:
      return feeds[index].Reshaped(arg.shape);
    case Buffer::Kind::kOutput:
      return outputs[index].Reshaped(arg.shape);
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

void Execution::Bring(const StepArg& output, Tensor t) {
  const size_t index = static_cast<size_t>(BufferOf(output).index);
  for (int position : plan.held_pointers[index]) {
    state.pointers[static_cast<size_t>(position)] = t.raw();
  }
  state.dynamic[index] = std::move(t);
}

}  // namespace tenon
