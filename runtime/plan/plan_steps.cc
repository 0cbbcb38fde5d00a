#include "runtime/plan/plan_steps.h"

#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "graph/object.h"
#include "graph_rewrite/loop_invariants.h"
#include "ops/control/on_device.h"
#include "runtime/devices/device.h"
#include "runtime/devices/kernel.h"
#include "runtime/execution/call_step.h"
#include "runtime/execution/device_kernel_step.h"
#include "runtime/execution/element_call_step.h"
#include "runtime/execution/map_step.h"
#include "runtime/plan/body.h"
#include "runtime/plan/calls.h"
#include "runtime/plan/map_loop.h"

namespace tenon {
namespace {

// Whether results are handles that planning does not follow: any of several, or a loop's variables
// that take each other's places.
bool MovesHandles(const CallForm& form, absl::Span<const TensorSpec> outputs) {
  std::vector<bool> stay(outputs.size(), false);
  if (form.kind == CallForm::kWhile) {
    stay = InvariantArguments(form.bodies[1]->model().graph());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].dtype == DType::kResource && !stay[i]) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<int> WithNode(const Node& node, absl::StatusOr<int> result) {
  if (result.ok()) return result;
  return Annotate(result.status(), NodeLabel(node));
}

absl::StatusOr<int> PlanSteps::BufferOf(PlanValue& value) {
  if (value.buffer >= 0) return value.buffer;
  Tensor plain;
  if (value.spec.value != nullptr) {
    plain = *value.spec.value;
  } else {
    TENON_ASSIGN_OR_RETURN(plain, value.constant->Plain());
  }
  if (value.constant != nullptr) read_plain_.insert(value.constant);
  value.buffer = memory_.AddConstant(plan_, std::move(plain));
  return value.buffer;
}

absl::Status PlanSteps::BringToHost(const Node& reader, PlanValue& value) {
  if (value.device == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(value.buffer,
                         devices_.OnHost(*value.device, value.buffer, value.spec, reader.id));
  value.device = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<int> PlanSteps::DeviceBufferOf(const Node& reader, const Device& device,
                                              PlanValue& value) {
  if (value.device == &device) return value.buffer;
  TENON_RETURN_IF_ERROR(BringToHost(reader, value));
  if (value.spec.value != nullptr) {
    return devices_.WeightOnDevice(device, value.spec.value, *value.spec.value);
  }
  if (value.constant != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Tensor plain, value.constant->Plain());
    read_plain_.insert(value.constant);
    return devices_.WeightOnDevice(device, value.constant, plain);
  }
  TENON_ASSIGN_OR_RETURN(const int buffer, BufferOf(value));
  return devices_.OnDevice(device, buffer, value.spec, reader.id);
}

absl::Status PlanSteps::AddDevice(const Node& node, absl::Span<PlanValue* const> inputs,
                                  std::vector<PlanValue>& ports) {
  if (dry_run()) return Unimplemented(NodeLabel(node), ": a dry run does not enter devices");
  absl::StatusOr<std::shared_ptr<const DeviceKernel>> kernel = devices_.KernelOf(node);
  if (!kernel.ok()) return Annotate(kernel.status(), NodeLabel(node));
  const Device& device = (*kernel)->device();
  std::vector<int> buffers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool on_host = (*kernel)->input_on_host(static_cast<int>(i));
    if (on_host) TENON_RETURN_IF_ERROR(BringToHost(node, *inputs[i]));
    TENON_ASSIGN_OR_RETURN(const int buffer, on_host ? BufferOf(*inputs[i])
                                                     : DeviceBufferOf(node, device, *inputs[i]));
    buffers.push_back(buffer);
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(ports[i].buffer,
                           WithNode(node, devices_.AddBrought(ports[i].spec, now())));
    if (!(*kernel)->output_on_host(static_cast<int>(i))) ports[i].device = &device;
  }
  Append(node.id, std::make_unique<DeviceKernelStep>(ArgsOf(inputs, buffers, ports),
                                                     *std::move(kernel), OriginalNode(node).op));
  ++plan_.counts.on_device;
  return absl::OkStatus();
}

absl::Status PlanSteps::AddCall(const Node& node, absl::Span<PlanValue* const> inputs,
                                absl::Span<const TensorSpec> specs,
                                absl::Span<const TensorSpec> outputs, Inputs handles,
                                std::vector<PlanValue>& ports) {
  absl::StatusOr<CallForm> form = CallFormOf(node, plan_.model->bodies());
  if (!form.ok()) return Annotate(form.status(), NodeLabel(node));
  if (form->kind == CallForm::kElements) {
    return AddElementCall(node, *form, inputs, outputs, ports);
  }
  const size_t first = static_cast<size_t>(form->first_input);
  if (first > 0 && inputs[0]->spec.value != nullptr) {
    ChooseBranch(node, *inputs[0]->spec.value, *form);
  }

  CallArguments arguments;
  std::vector<Tensor> planned_handles(specs.size());
  for (size_t i = first; i < specs.size(); ++i) {
    TensorSpec spec = specs[i];
    const bool variant = spec.dtype == DType::kVariant;
    const bool list = variant && spec.shape == Shape({});
    const PlanValue* const items = list ? inputs[i] : handles[i];
    if (variant) spec.value = nullptr;
    if (items != nullptr) {
      absl::StatusOr<Tensor> planned = PlannedHandle(spec.dtype, items->items);
      if (!planned.ok()) return Annotate(planned.status(), NodeLabel(node));
      planned_handles[i] = *std::move(planned);
      spec.value = &planned_handles[i];
    }
    arguments.specs.push_back(spec);
    arguments.constants.push_back(inputs[i]->constant);
  }
  PlannedCall call = PlanCallOf(*form, arguments, outputs.size(), plan_.services, plan_.cache);
  const bool moves = MovesHandles(*form, outputs);
  HashMap<PlanValue*, ItemState> after;  // several arguments may be one handle
  for (size_t i = first; i < handles.size(); ++i) {
    if (handles[i] == nullptr) continue;
    const ItemState items = moves || call.items.empty() ? ItemState() : call.items[i - first];
    const auto [it, added] = after.emplace(handles[i], items);
    if (!added) it->second = it->second.Or(items);
  }
  for (const auto& [handle, items] : after) {
    handle->items = items;
  }

  for (size_t i = 0; i < ports.size(); ++i) {
    ports[i].spec.shape = call.results[i].shape;
    if (outputs[i].dtype != DType::kResource) ports[i].items = call.results[i].items;
    if (call.results[i].shape.IsComplete()) {
      ports[i].buffer = memory_.AddHeld(ports[i].spec, now());
    } else {
      TENON_ASSIGN_OR_RETURN(ports[i].buffer,
                             WithNode(node, memory_.AddComputed(ports[i].spec, now())));
    }
    // What reads it may use the value; the step brings the tensor all the same.
    if (call.results[i].value == nullptr) continue;
    ports[i].spec.value = call.results[i].value.get();
    plan_.values.push_back(std::move(call.results[i].value));
  }
  const int state = plan_.num_step_states++;
  if (dry_run()) return AddDry(inputs, outputs);

  std::vector<Function*> functions(form->bodies.begin(), form->bodies.end());
  for (size_t i = 0; i < functions.size(); ++i) {
    if (call.plans[i] == nullptr) continue;
    auto special = std::make_shared<SpecialFunction>(std::move(call.plans[i]), *functions[i]);
    functions[i] = special.get();
    plan_.functions.push_back(std::move(special));
  }
  for (size_t i = first; i < inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int buffer, BufferOf(*inputs[i]));
    memory_.Hand(buffer, now());
  }
  switch (form->kind) {
    case CallForm::kIf:
      return Add<IfStep>(node, inputs, ports, std::move(functions), state);
    case CallForm::kCase:
      return Add<CaseStep>(node, inputs, ports, std::move(functions), state);
    case CallForm::kBranch:
      return Add<BranchStep>(node, inputs, ports, std::move(functions), state);
    case CallForm::kWhile:
      if (auto map = plan_.services.threads > 1
                         ? MapLoopOf(form->bodies[0]->model(), form->bodies[1]->model())
                         : std::nullopt) {
        auto alone = std::make_unique<Body>(form->bodies[1]->shared_model());
        alone->OfLoop(InvariantArguments(alone->model().graph()));
        return Add<MapStep>(node, inputs, ports, std::move(functions), state,
                            std::move(call.general), *std::move(map), std::move(alone));
      }
      return Add<WhileStep>(node, inputs, ports, std::move(functions), state,
                            std::move(call.general));
    case CallForm::kElements:
      break;  // above
  }
  return Internal("unreachable");
}

absl::Status PlanSteps::AddElementCall(const Node& node, const CallForm& form,
                                       absl::Span<PlanValue* const> inputs,
                                       absl::Span<const TensorSpec> outputs,
                                       std::vector<PlanValue>& ports) {
  for (PlanValue& port : ports) {
    if (port.spec.shape.IsComplete()) {
      port.buffer = memory_.AddHeld(port.spec, now());
    } else {
      TENON_ASSIGN_OR_RETURN(port.buffer, WithNode(node, memory_.AddComputed(port.spec, now())));
    }
  }
  const int state = plan_.num_step_states++;
  if (dry_run()) return AddDry(inputs, outputs);
  std::vector<bool> vectors;
  for (const Body* body : form.bodies) vectors.push_back(TakesVectors(*body));
  std::vector<Function*> functions(form.bodies.begin(), form.bodies.end());
  return Add<ElementCallStep>(node, inputs, ports, std::move(functions), state, node,
                              std::move(vectors));
}

absl::Status PlanSteps::AddFlat(const Node& node, std::shared_ptr<const PreparedKernel> owner,
                                absl::Span<PlanValue* const> inputs,
                                const std::vector<PlanValue>& ports) {
  const PreparedKernel& kernel = *owner;
  const int step = now();
  std::vector<int> buffers(inputs.size(), -1), reads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool read = true;
    for (int u : kernel.unread) read &= u != static_cast<int>(i);
    if (inputs[i]->constant != nullptr) packed_.insert(inputs[i]->constant);
    if (!read) continue;
    TENON_ASSIGN_OR_RETURN(buffers[i], BufferOf(*inputs[i]));
    memory_.Read(buffers[i], step);
    reads.push_back(buffers[i]);
  }
  FlatStep s;
  s.kernel = kernel.kernel.get();
  s.node = node.id;
  s.inputs = static_cast<int>(plan_.pointers.size());
  plan_.pointers.insert(plan_.pointers.end(), buffers.begin(), buffers.end());
  s.outputs = static_cast<int>(plan_.pointers.size());
  for (const PlanValue& port : ports) plan_.pointers.push_back(port.buffer);
  s.scratch = static_cast<int>(plan_.pointers.size());
  plan_.pointers.push_back(kernel.scratch_bytes > 0 ? memory_.AddScratch(kernel.scratch_bytes, step)
                                                    : -1);
  for (const auto& [input, output] : kernel.in_place) {
    const int buffer = buffers[static_cast<size_t>(input)];
    if (buffer < 0) continue;
    memory_.AllowInPlace({step, buffer, ports[static_cast<size_t>(output)].buffer, reads});
  }
  plan_.steps.push_back(s);
  plan_.prepared.push_back(std::move(owner));
  CountBytes(inputs, ports);
  return absl::OkStatus();
}

int PlanSteps::NumReaders(NodeId id) {
  if (readers_.empty()) {
    const Graph& graph = plan_.model->graph();
    readers_.resize(static_cast<size_t>(graph.end_id()), 0);
    for (NodeId reader : plan_.model->order()) {
      for (const Endpoint& e : graph.node(reader).inputs) ++readers_[static_cast<size_t>(e.node)];
    }
    for (const GraphOutput& output : graph.outputs()) {
      ++readers_[static_cast<size_t>(output.source.node)];
    }
  }
  return readers_[static_cast<size_t>(id)];
}

void PlanSteps::ReleasePacked(const Node& node) {
  for (const Endpoint& e : node.inputs) {
    Constant* const constant = plan_.model->constant(e.node);
    if (constant == nullptr || read_plain_.contains(constant) || NumReaders(e.node) != 1) continue;
    constant->ReleasePlain();
  }
}

void PlanSteps::CountBytes(Inputs inputs, const std::vector<PlanValue>& ports) {
  int64_t bytes = 0;
  const auto add = [&](const TensorSpec& spec) {
    if (!spec.shape.IsComplete() || HoldsObjects(spec.dtype) || spec.dtype == DType::kString)
      return;
    bytes += spec.shape.num_elements() * static_cast<int64_t>(SizeOf(spec.dtype));
  };
  for (const PlanValue* in : inputs) add(in->spec);
  for (const PlanValue& port : ports) add(port.spec);
  plan_.moved_bytes.resize(plan_.steps.size());
  plan_.moved_bytes.back() = bytes;
}

absl::Status PlanSteps::AddDry(absl::Span<PlanValue* const> inputs,
                               absl::Span<const TensorSpec> outputs) {
  for (PlanValue* in : inputs) {
    if (in->constant != nullptr) {
      packed_.insert(in->constant);
    } else if (in->buffer >= 0) {
      memory_.Read(in->buffer, now());
    }
  }
  for (const TensorSpec& spec : outputs) {
    if (!spec.shape.IsComplete()) continue;
    written_bytes_ += static_cast<size_t>(spec.shape.num_elements()) * SizeOf(spec.dtype);
  }
  plan_.steps.emplace_back();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> PlanSteps::BuffersOf(absl::Span<PlanValue* const> inputs) {
  std::vector<int> buffers;
  for (PlanValue* in : inputs) {
    TENON_ASSIGN_OR_RETURN(const int buffer, BufferOf(*in));
    buffers.push_back(buffer);
  }
  return buffers;
}

StepArgs PlanSteps::ArgsOf(absl::Span<PlanValue* const> inputs, absl::Span<const int> buffers,
                           const std::vector<PlanValue>& ports) {
  StepArgs args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& in = *inputs[i];
    memory_.Read(buffers[i], now());
    args.inputs.push_back({buffers[i], in.spec.dtype, in.spec.shape, in.constant});
  }
  for (const PlanValue& out : ports) {
    args.outputs.push_back({out.buffer, out.spec.dtype, out.spec.shape});
  }
  return args;
}

void PlanSteps::Append(NodeId node, std::unique_ptr<Step> step) {
  AppendStep(plan_, node, std::move(step));
}

}  // namespace tenon
