#include "runtime/execution/dynamic_step.h"

#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/state/variable.h"
#include "ops/op.h"
#include "runtime/execution/call.h"
#include "runtime/execution/device_step.h"

namespace tenon {
namespace {

const Buffer& BufferOf(const Plan& plan, const DynamicArg& arg) {
  return plan.buffers[static_cast<size_t>(arg.buffer)];
}

// Memory for the outputs that Run itself sizes.
class DynamicOutputs final : public OutputAllocator {
 public:
  DynamicOutputs(const Plan& plan, const DynamicStep& step, ExecState& state)
      : plan_(plan), step_(step), state_(state) {}

  absl::StatusOr<void*> Allocate(int output, const Shape& shape) override {
    const DynamicArg& arg = step_.outputs[static_cast<size_t>(output)];
    const Buffer& buffer = BufferOf(plan_, arg);
    if (buffer.kind != Buffer::Kind::kDynamic) {
      return Internal("output ", output, " has a known shape: its memory is given");
    }
    Tensor& t = state_.dynamic[static_cast<size_t>(buffer.index)];
    TENON_ASSIGN_OR_RETURN(t, Tensor::Allocate(arg.dtype, shape));
    return t.raw();
  }

 private:
  const Plan& plan_;
  const DynamicStep& step_;
  ExecState& state_;
};

absl::Status RunRead(const Plan& plan, const DynamicStep& step, RunTensors& run) {
  const DynamicArg& out = step.outputs[0];
  TENON_ASSIGN_OR_RETURN(const Tensor handle, ViewOf(plan, run, step.inputs[0]));
  TENON_ASSIGN_OR_RETURN(const Variable* variable, VariableAt(handle.data<ObjectPtr>()));
  TENON_ASSIGN_OR_RETURN(Tensor value, variable->Read());
  if (value.dtype() != out.dtype || value.shape() != out.shape) {
    return InvalidArgument("variable '", variable->name(), "' is ", Name(value.dtype()),
                           " of shape ", value.shape().ToString(), "; expected ", Name(out.dtype),
                           " of shape ", out.shape.ToString());
  }
  Bring(plan, run.state, out.buffer, std::move(value));
  return absl::OkStatus();
}

absl::Status RunItem(const Plan& plan, const DynamicStep& step, RunTensors& run) {
  const DynamicArg& out = step.outputs[0];
  TENON_ASSIGN_OR_RETURN(const Tensor handle, ViewOf(plan, run, step.inputs[0]));
  TENON_ASSIGN_OR_RETURN(const Tensor index_value, ViewOf(plan, run, step.inputs[1]));
  TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(handle.data<ObjectPtr>(), out.dtype));
  const int64_t index = *index_value.data<int32_t>();
  if (index < 0 || index >= static_cast<int64_t>(list->items.size())) {
    return InvalidArgument("index ", index, " of a list of ", list->items.size(), " tensors");
  }
  const std::shared_ptr<const Tensor>& item = list->items[static_cast<size_t>(index)];
  Tensor t;
  if (item != nullptr) {
    if (item->shape() != out.shape) {
      return InvalidArgument("tensor ", index, " has shape ", item->shape().ToString(), ", not ",
                             out.shape.ToString());
    }
    t = *item;
  } else {
    TENON_ASSIGN_OR_RETURN(t, Tensor::Allocate(out.dtype, out.shape));
    WriteItem(nullptr, out.dtype, t.num_elements(), t.raw());
  }
  Bring(plan, run.state, out.buffer, std::move(t));
  return absl::OkStatus();
}

// Memory that another step may write while a later one reads.
bool IsPassing(const Buffer& buffer) {
  return buffer.kind == Buffer::Kind::kArena || buffer.kind == Buffer::Kind::kStrings;
}

absl::Status RunCallStep(const Plan& plan, const DynamicStep& step, RunTensors& run) {
  std::vector<Tensor> inputs;
  inputs.reserve(step.inputs.size());
  for (const DynamicArg& arg : step.inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor t, ViewOf(plan, run, arg));
    inputs.push_back(std::move(t));
  }
  const CallForm& form = plan.calls[static_cast<size_t>(step.call)];
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results,
                         RunCall(form, inputs, plan.services, *plan.cache));
  if (results.size() != step.outputs.size()) {
    return Internal("a function gave ", results.size(), " results, not ", step.outputs.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor& t = results[i];
    const DynamicArg& out = step.outputs[i];
    if (t.dtype() != out.dtype || !t.shape().CompatibleWith(out.shape)) {
      return InvalidArgument("result ", i, " is ", Name(t.dtype()), " of shape ",
                             t.shape().ToString(), "; expected ", Name(out.dtype), " of shape ",
                             out.shape.ToString());
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (!IsPassing(BufferOf(plan, step.inputs[k])) || !t.SharesBufferWith(inputs[k])) continue;
      TENON_ASSIGN_OR_RETURN(t, t.Clone());
      break;
    }
    Bring(plan, run.state, out.buffer, std::move(t));
  }
  return absl::OkStatus();
}

}  // namespace

void Bring(const Plan& plan, ExecState& state, int buffer, Tensor t) {
  const size_t index = static_cast<size_t>(plan.buffers[static_cast<size_t>(buffer)].index);
  for (int position : plan.held_pointers[index]) {
    state.pointers[static_cast<size_t>(position)] = t.raw();
  }
  state.dynamic[index] = std::move(t);
}

void* FixedAddress(const Plan& plan, const ExecState& state, const Buffer& buffer) {
  const size_t index = static_cast<size_t>(buffer.index);
  switch (buffer.kind) {
    case Buffer::Kind::kConstant:
      // Kernels only read what stands at an input position.
      return const_cast<void*>(plan.constants[index].raw());
    case Buffer::Kind::kArena:
      return state.arena.data() + buffer.offset;
    case Buffer::Kind::kStrings:
      return const_cast<void*>(state.strings[index].raw());
    default:
      return nullptr;
  }
}

absl::StatusOr<Tensor> ViewOf(const Plan& plan, RunTensors& run, const DynamicArg& arg) {
  const Buffer& buffer = BufferOf(plan, arg);
  const size_t index = static_cast<size_t>(buffer.index);
  switch (buffer.kind) {
    case Buffer::Kind::kDynamic:
      if (!run.state.dynamic[index].valid()) return Internal("a tensor is read before it is made");
      return run.state.dynamic[index];
    case Buffer::Kind::kHeld:
      if (!run.state.dynamic[index].valid()) return Internal("a tensor is read before it is made");
      return run.state.dynamic[index].Reshaped(arg.shape);
    case Buffer::Kind::kFeed:
      return run.feeds[index].Reshaped(arg.shape);
    case Buffer::Kind::kOutput:
      return run.outputs[index].Reshaped(arg.shape);
    default:
      return Tensor::FromExternal(arg.dtype, arg.shape, FixedAddress(plan, run.state, buffer),
                                  nullptr);
  }
}

absl::Status RunDynamicStep(const Plan& plan, const Step& step, RunTensors& run) {
  const DynamicStep& dynamic = plan.dynamic_steps[static_cast<size_t>(step.dynamic)];
  if (dynamic.kind == DynamicKind::kRead) return RunRead(plan, dynamic, run);
  if (dynamic.kind == DynamicKind::kItem) return RunItem(plan, dynamic, run);
  if (dynamic.kind == DynamicKind::kCall) return RunCallStep(plan, dynamic, run);
  if (dynamic.device != nullptr) return RunDeviceStep(plan, step, dynamic, run);
  const Node& node = plan.model->graph().node(step.node);
  const OpLookup op = FindOp(node.op);

  std::vector<Tensor> tensors;
  std::vector<TensorSpec> specs;
  std::vector<Constant*> constants;
  tensors.reserve(dynamic.inputs.size());
  for (const DynamicArg& arg : dynamic.inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor t, ViewOf(plan, run, arg));
    tensors.push_back(std::move(t));
    const Tensor& kept = tensors.back();
    specs.push_back({kept.dtype(), kept.shape(), &kept});
    constants.push_back(arg.constant);
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> outputs,
                         InferOutputs(*op.info, node, specs));
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const PreparedKernel> prepared,
                         plan.cache->Prepare(node, specs, constants, outputs, plan.services));

  DynamicOutputs allocator(plan, dynamic, run.state);
  std::vector<const void*> in;
  for (const Tensor& t : tensors) in.push_back(t.raw());
  std::vector<void*> out;
  bool empty = !outputs.empty();
  for (size_t i = 0; i < outputs.size(); ++i) {
    void* address = nullptr;
    const Shape& shape = outputs[i].shape;
    if (BufferOf(plan, dynamic.outputs[i]).kind != Buffer::Kind::kDynamic) {
      if (shape.IsComplete() && shape != dynamic.outputs[i].shape) {
        return Internal("output ", i, " was planned as ", dynamic.outputs[i].shape.ToString(),
                        ", but is ", shape.ToString());
      }
      TENON_ASSIGN_OR_RETURN(Tensor view, ViewOf(plan, run, dynamic.outputs[i]));
      address = view.raw();
    } else if (shape.IsComplete()) {
      TENON_ASSIGN_OR_RETURN(address, allocator.Allocate(static_cast<int>(i), shape));
    }
    empty &= shape.IsComplete() && shape.num_elements() == 0;
    out.push_back(address);
  }
  if (empty && !op.info->row.stateful) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const ArenaBlock scratch, ArenaBlock::Allocate(prepared->scratch_bytes));
  RunContext context(in.data(), out.data(), scratch.data(), &allocator);
  return prepared->kernel->Run(context);
}

}  // namespace tenon
