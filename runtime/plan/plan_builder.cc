// Turns a graph's nodes, in order, into precomputed values, views of other memory, or steps.
#include "runtime/plan/plan_builder.h"

#include <optional>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "ops/control/on_device.h"
#include "ops/op.h"
#include "runtime/execution/copy_step.h"
#include "runtime/execution/dynamic_kernel_step.h"
#include "runtime/execution/grow_step.h"
#include "runtime/execution/handle_items.h"
#include "runtime/execution/list_item_step.h"
#include "runtime/execution/list_stack_step.h"
#include "runtime/execution/read_variable_step.h"
#include "runtime/execution/take_item_step.h"
#include "runtime/plan/body.h"
#include "runtime/plan/calls.h"
#include "runtime/plan/list_items.h"
#include "runtime/plan/once_steps.h"
#include "runtime/plan/plan_memory.h"
#include "runtime/plan/plan_steps.h"
#include "runtime/plan/slice_view.h"

namespace tenon {
namespace {

// Results computed during planning are kept as long as the plan: shapes, indices, masks, positions.
constexpr size_t kMostEvaluatedBytes = size_t{1} << 20;

class PlanBuilder {
 public:
  // Without a cache, no kernel is prepared: a dry run.
  PlanBuilder(std::shared_ptr<const ModelState> model, const Services& services, KernelCache* cache)
      : plan_(std::make_shared<FlatPlan>()), graph_(model->graph()), steps_(*plan_, memory_) {
    plan_->model = std::move(model);
    plan_->graph = &graph_;
    plan_->services = services;
    plan_->cache = cache;
    values_.resize(static_cast<size_t>(graph_.end_id()));
  }

  // The arguments of a function: see BuildFunctionPlan.
  void OfFunction(absl::Span<Constant* const> constants, const std::vector<bool>& invariant) {
    has_values_ = true;
    feed_constants_ = constants;
    invariant_ = invariant;
    memory_.OwnFeeds();
  }

  // The feeds of the whole graph.
  absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildTop(absl::Span<const TensorSpec> feeds) {
    has_values_ = true;
    return Build(feeds);
  }

  absl::StatusOr<std::shared_ptr<const FlatPlan>> Build(absl::Span<const TensorSpec> feeds) {
    TENON_RETURN_IF_ERROR(AddAll(feeds));
    plan_->counts.steps = static_cast<int>(plan_->steps.size());
    plan_->states = std::make_unique<StatePool::Shelf>(plan_->model->states(), plan_->arena_bytes);
    for (Constant* constant : steps_.packed()) {
      if (!steps_.read_plain().contains(constant)) constant->ReleasePlain();
    }
    return std::shared_ptr<const FlatPlan>(std::move(plan_));
  }

  absl::StatusOr<PlanDryRun> DryRun(absl::Span<const TensorSpec> feeds) {
    TENON_RETURN_IF_ERROR(AddAll(feeds));
    PlanDryRun dry_run;
    dry_run.arena_bytes = plan_->arena_bytes;
    dry_run.written_bytes = steps_.written_bytes();
    for (const Constant* constant : steps_.packed()) {
      dry_run.weight_bytes +=
          static_cast<size_t>(constant->shape().num_elements()) * SizeOf(constant->dtype());
    }
    dry_run.dynamic = dynamic_ || !plan_->dynamic_steps.empty() || plan_->num_step_states > 0;
    for (const GraphOutput& output : graph_.outputs()) {
      TENON_ASSIGN_OR_RETURN(const PlanValue* value, OutputValue(output));
      dry_run.results.push_back({-1, value->spec.dtype, value->spec.shape, value->items});
    }
    for (const std::vector<PlanValue>& ports : values_) {
      std::vector<TensorSpec>& specs = dry_run.outputs.emplace_back();
      for (const PlanValue& value : ports) specs.push_back(value.spec);
    }
    dry_run.feed_items = std::move(plan_->feed_items);
    dry_run.values = std::move(plan_->values);
    return dry_run;
  }

 private:
  void NoteFeedItems() {
    for (const GraphInput& input : graph_.inputs()) {
      const std::vector<PlanValue>& ports = values_[static_cast<size_t>(input.node)];
      plan_->feed_items.push_back(ports.empty() ? ItemState() : ports[0].items);
    }
  }

  absl::Status AddAll(absl::Span<const TensorSpec> feeds) {
    TENON_RETURN_IF_ERROR(AddFeeds(feeds));
    for (NodeId id : plan_->model->order()) {
      ++plan_->counts.nodes;
      if (fed_.contains(id)) continue;
      TENON_RETURN_IF_ERROR(AddNode(graph_.node(id)));
    }
    NoteFeedItems();
    if (!steps_.dry_run()) {
      TENON_RETURN_IF_ERROR(AddOutputs());
      if (!invariant_.empty()) MarkOnce(invariant_, *plan_, memory_);
    }
    return memory_.Finish(*plan_);
  }

  absl::Status AddFeeds(absl::Span<const TensorSpec> feeds) {
    const std::vector<GraphInput>& inputs = graph_.inputs();
    if (feeds.size() != inputs.size()) {
      return InvalidArgument("the graph has ", inputs.size(), " inputs, ", feeds.size(), " given");
    }
    for (const TensorSpec& feed : feeds) {
      const bool handle = feed.value != nullptr && HoldsItems(*feed.value);
      Shape shape = handle ? CommonItemShape(*feed.value) : feed.shape;
      if (feed.dtype == DType::kResource && !handle) shape = Shape::Unknown();
      plan_->feeds.emplace_back(feed.dtype, std::move(shape));
    }
    for (size_t i = 0; i < feeds.size(); ++i) {
      if (feeds[i].dtype == DType::kInvalid) continue;
      if (!fed_.insert(inputs[i].node).second) continue;
      PlanValue value;
      value.spec = {feeds[i].dtype, feeds[i].shape, nullptr};
      value.buffer = memory_.AddFeed(static_cast<int>(i), value.spec);
      if (feeds[i].value != nullptr && HoldsItems(*feeds[i].value)) {
        value.items = ItemStateOf(*feeds[i].value);
      } else if (has_values_ && feeds[i].dtype != DType::kVariant) {
        value.spec.value = feeds[i].value;
        if (!feed_constants_.empty()) value.constant = feed_constants_[i];
      }
      values_[static_cast<size_t>(inputs[i].node)] = {value};
    }
    return absl::OkStatus();
  }

  absl::StatusOr<PlanValue*> Find(const Node& reader, Endpoint e) {
    std::vector<PlanValue>& ports = values_[static_cast<size_t>(e.node)];
    if (e.port < 0 || static_cast<size_t>(e.port) >= ports.size()) {
      return InvalidArgument(NodeLabel(reader), " reads '", EndpointName(graph_, e),
                             "', which that node does not have");
    }
    return &ports[static_cast<size_t>(e.port)];
  }

  absl::Status AddNode(const Node& node) {
    std::vector<PlanValue>& ports = values_[static_cast<size_t>(node.id)];
    if (Constant* constant = plan_->model->constant(node.id)) {
      PlanValue value;
      value.spec = {constant->dtype(), constant->shape(), plan_->model->small_value(node.id)};
      value.constant = constant;
      ports = {value};
      return absl::OkStatus();
    }
    if (node.op == "Placeholder") {
      return InvalidArgument("input '", node.name, "' is not fed");
    }
    const OpLookup op = FindOp(node.op);
    if (!op) return Unimplemented(NodeLabel(node), ": op is not implemented");

    std::vector<PlanValue*> inputs;
    std::vector<TensorSpec> specs;
    for (const Endpoint& e : node.inputs) {
      TENON_ASSIGN_OR_RETURN(PlanValue * value, Find(node, e));
      inputs.push_back(value);
      specs.push_back(value->spec);
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> outputs,
                           InferOutputs(*op.info, node, specs));
    for (const TensorSpec& spec : outputs) {
      if (spec.shape.IsComplete()) {
        TENON_RETURN_IF_ERROR(Annotate(spec.shape.CheckedElements().status(), NodeLabel(node)));
      }
      ports.push_back({.spec = spec});
    }
    if (!ports.empty()) ports[0].items = ListItemsOf(node, inputs);
    if (node.op == "TensorListStack") {
      ports[0].spec.shape = StackedShape(inputs[0]->items, outputs[0].shape);
    }
    const HandleOp handle_op = HandleOpOf(node);
    if (handle_op.use == HandleUse::kMakes) NewHandle(node, ports[0]);
    UseHandle(node, handle_op, inputs, ports);

    if (CanEvaluate(op.info->row, inputs, outputs)) {
      absl::Status done = EvaluateNow(node, op.info->row, inputs, ports);
      if (!absl::IsUnimplemented(done)) return done;
    }
    if (IsWholeInput(op.info->row, specs) && ShareMemory(inputs, ports)) {
      ++plan_->counts.aliased;
      return PinAliased(inputs, ports);
    }
    if (AddParts(node, op.info->row, inputs, specs, outputs, ports)) {
      ++plan_->counts.aliased;
      return absl::OkStatus();
    }
    return AddStep(node, *op.info, inputs, specs, outputs, ports);
  }

  // What has the items of the handle in input `i`, or null if that is of another kind.
  PlanValue* HandleOf(const Node& node, size_t i) {
    Endpoint e = node.inputs[i];
    while (true) {
      const Node& n = graph_.node(e.node);
      const bool passes = HandleOpOf(n).use == HandleUse::kPasses && e.port == 0;
      if (passes || n.op == "Identity") {
        e = n.inputs[0];
      } else if (FactsOf(n.op).control_flow == ControlFlow::kWhile) {
        // A loop's results are its handles, which iterations do not change.
        e = n.inputs[static_cast<size_t>(e.port)];
      } else {
        break;
      }
    }
    std::vector<PlanValue>& ports = values_[static_cast<size_t>(e.node)];
    if (static_cast<size_t>(e.port) >= ports.size()) return nullptr;
    PlanValue& value = ports[static_cast<size_t>(e.port)];
    return value.spec.dtype == DType::kResource && value.constant == nullptr ? &value : nullptr;
  }

  // Follows what goes into stacks and arrays. What comes out gets the shape of what went in.
  void UseHandle(const Node& node, const HandleOp& op, absl::Span<PlanValue* const> inputs,
                 std::vector<PlanValue>& ports) {
    if (op.use == HandleUse::kNone || op.use == HandleUse::kMakes) return;
    PlanValue* const handle = HandleOf(node, 0);
    if (handle == nullptr) return;
    const auto tell = [&](Shape shape) {
      if (!shape.IsComplete() || !shape.CompatibleWith(ports[0].spec.shape)) return;
      ports[0].spec.shape = std::move(shape);
    };
    Shape item = Shape::Unknown();
    switch (op.use) {
      case HandleUse::kPuts:
        item = inputs[op.operand]->spec.shape;
        break;
      case HandleUse::kPutsRows:
        if (inputs[op.operand]->spec.shape.rank() > 0) {
          item = Shape(inputs[op.operand]->spec.shape.dims().subspan(1));
        }
        break;
      case HandleUse::kTakes:
        return tell(handle->items.shape);
      case HandleUse::kGathers:
        if (handle->items.shape.IsComplete() && inputs[1]->spec.shape.rank() == 1) {
          tell(StackOf(inputs[1]->spec.shape.dim(0), handle->items.shape));
        }
        return;
      case HandleUse::kPutsMore:
        break;
      default:
        return;
    }
    if (!item.IsComplete()) item = Shape::Unknown();
    handle->items = handle->items.Or({.shape = std::move(item)});
  }

  static void NewHandle(const Node& node, PlanValue& handle) {
    const Shape* stated = node.attr<Shape>("element_shape");
    const bool known = stated != nullptr && stated->IsComplete();
    if (known) handle.items.shape = *stated;
    handle.items.none = !known;
  }

  // Whether the node's outputs are parts of an input's memory, and nothing has to run.
  bool AddParts(const Node& node, const OpRow& row, absl::Span<PlanValue* const> inputs,
                absl::Span<const TensorSpec> specs, absl::Span<const TensorSpec> outputs,
                std::vector<PlanValue>& ports) {
    if (!node.control_inputs.empty()) return false;
    const std::optional<SliceView> view = SliceViewOf(row, node, specs, outputs);
    if (!view.has_value()) return false;
    const PlanValue& whole = *inputs[view->input];
    if (whole.buffer < 0 || whole.device != nullptr) return false;
    for (size_t i = 0; i < ports.size(); ++i) {
      ports[i].buffer = memory_.AddPart(whole.buffer, view->offsets[i], outputs[i]);
      if (ports[i].buffer < 0) return false;
    }
    return true;
  }

  // Whether the op needs no more than this input's shape. (The content of a variant has a shape
  // too.)
  static bool ShapeIsEnough(const OpRow& row, const PlanValue& in) {
    return row.shape_only && in.spec.dtype != DType::kVariant;
  }

  static bool CanEvaluate(const OpRow& row, absl::Span<PlanValue* const> inputs,
                          absl::Span<const TensorSpec> outputs) {
    if (row.stateful || outputs.empty()) return false;
    for (const PlanValue* in : inputs) {
      const bool known = in->spec.value != nullptr || in->constant != nullptr;
      if (!known && !(ShapeIsEnough(row, *in) && in->spec.shape.IsComplete())) return false;
    }
    size_t bytes = 0;
    for (const TensorSpec& out : outputs) {
      // If all inputs are known, the kernel determines an unknown output, which is fine here.
      if (!out.shape.IsComplete()) continue;
      const int64_t n = out.shape.num_elements();
      if (n > int64_t{1} << 30) return false;
      bytes += static_cast<size_t>(n) * SizeOf(out.dtype);
    }
    return bytes <= kMostEvaluatedBytes;
  }

  absl::Status EvaluateNow(const Node& node, const OpRow& row, absl::Span<PlanValue* const> inputs,
                           std::vector<PlanValue>& ports) {
    std::vector<Tensor> tensors;
    for (const PlanValue* in : inputs) {
      if (in->spec.value != nullptr) {
        tensors.push_back(*in->spec.value);
      } else if (in->constant != nullptr && !ShapeIsEnough(row, *in)) {
        TENON_ASSIGN_OR_RETURN(Tensor plain, in->constant->Plain());
        tensors.push_back(std::move(plain));
      } else {
        tensors.push_back(Tensor::FromExternal(in->spec.dtype, in->spec.shape, nullptr, nullptr));
      }
    }
    Node plain = node;
    plain.op = row.name;  // the reference kernel: runs once, on little data
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, Evaluate(plain, tensors, plan_->services));
    for (size_t i = 0; i < results.size(); ++i) {
      auto kept = std::make_shared<const Tensor>(std::move(results[i]));
      ports[i].spec.shape = kept->shape();
      ports[i].spec.value = kept.get();
      plan_->values.push_back(std::move(kept));
    }
    ++plan_->counts.evaluated;
    return absl::OkStatus();
  }

  static bool ShareMemory(absl::Span<PlanValue* const> inputs, absl::Span<const PlanValue> ports) {
    if (ports.empty() || inputs.size() < ports.size()) return false;
    for (size_t i = 0; i < ports.size(); ++i) {
      const TensorSpec& in = inputs[i]->spec;
      const TensorSpec& out = ports[i].spec;
      if (!in.shape.IsComplete() || !out.shape.IsComplete() || in.dtype != out.dtype ||
          in.shape.num_elements() != out.shape.num_elements()) {
        return false;
      }
    }
    return true;
  }

  absl::Status PinAliased(absl::Span<PlanValue* const> inputs, std::vector<PlanValue>& ports) {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (inputs[i]->spec.shape == ports[i].spec.shape) {
        ports[i] = *inputs[i];  // a constant stays one, and is still read only on demand
      } else {
        TENON_ASSIGN_OR_RETURN(ports[i].buffer, steps_.BufferOf(*inputs[i]));
        ports[i].device = inputs[i]->device;
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddStep(const Node& node, const OpInfo& op, absl::Span<PlanValue* const> inputs,
                       absl::Span<const TensorSpec> specs, absl::Span<const TensorSpec> outputs,
                       std::vector<PlanValue>& ports) {
    if (IsOnDevice(node)) return steps_.AddDevice(node, inputs, ports);
    for (PlanValue* in : inputs) TENON_RETURN_IF_ERROR(steps_.BringToHost(node, *in));
    const int step = steps_.now();
    if (node.op == "ReadVariableOp" && outputs[0].shape.IsComplete()) {
      ports[0].buffer = memory_.AddHeld(outputs[0], step);
      memory_.OfVariable(ports[0].buffer);
      return steps_.Add<ReadVariableStep>(node, inputs, ports);
    }
    const ItemState* items = inputs.empty() ? nullptr : &inputs[0]->items;
    if (node.op == "TensorListGetItem" && items->shape.IsComplete() &&
        items->shape.CompatibleWith(outputs[0].shape)) {
      ports[0].spec.shape = items->shape;
      ports[0].buffer = memory_.AddHeld(ports[0].spec, step);
      return steps_.Add<ListItemStep>(node, inputs, ports);
    }
    const bool pushes = node.op == "TensorListPushBack";
    if (pushes || (node.op == "TensorListPopBack" && items->shape.IsComplete() &&
                   items->shape.CompatibleWith(outputs[1].shape))) {
      if (!pushes) {
        ports[1].spec.shape = items->shape;
        if (items->value != nullptr) {
          // What reads it may use the value; the step brings the tensor all the same.
          ports[1].spec.value = items->value.get();
          plan_->values.push_back(items->value);
        }
      }
      for (PlanValue& port : ports) port.buffer = memory_.AddHeld(port.spec, step);
      TENON_ASSIGN_OR_RETURN(const int list, steps_.BufferOf(*inputs[0]));
      memory_.Hand(list, step);
      if (pushes) return steps_.Add<ListPushStep>(node, inputs, ports);
      return steps_.Add<ListPopStep>(node, inputs, ports);
    }
    if (!ports.empty() && ports[0].spec.shape.IsComplete() && !outputs[0].shape.IsComplete()) {
      // The shape of what is behind a handle.
      ports[0].buffer = memory_.AddHeld(ports[0].spec, step);
      if (HandleOpOf(node).use == HandleUse::kTakes) {
        return steps_.Add<TakeItemStep>(node, inputs, ports);
      }
      return steps_.Add<DynamicKernelStep>(node, inputs, ports, node, op);
    }
    if (IsCall(node.op)) {
      std::vector<PlanValue*> handles(inputs.size(), nullptr);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (specs[i].dtype == DType::kResource) handles[i] = HandleOf(node, i);
      }
      return steps_.AddCall(node, inputs, specs, outputs, handles, ports);
    }
    bool dynamic = false, values_missing = false, empty = true;
    for (const TensorSpec& s : specs) {
      dynamic |= !s.shape.IsComplete();
      values_missing |= s.value == nullptr;
    }
    for (size_t i = 0; i < ports.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(ports[i].buffer,
                             WithNode(node, memory_.AddComputed(outputs[i], step)));
      dynamic |= !outputs[i].shape.IsComplete();
      empty &= outputs[i].shape.IsComplete() && outputs[i].shape.num_elements() == 0;
    }
    if (empty && !op.row.stateful) return absl::OkStatus();  // nothing to write
    if (steps_.dry_run()) {
      dynamic_ |= dynamic;
      return steps_.AddDry(inputs, outputs);
    }
    if (dynamic && GrowStep::Serves(op, inputs.size(), outputs)) {
      return steps_.Add<GrowStep>(node, inputs, ports, node, op, plan_->num_step_states++);
    }
    if (dynamic) return steps_.Add<DynamicKernelStep>(node, inputs, ports, node, op);

    std::vector<Constant*> constants;
    for (const PlanValue* in : inputs) constants.push_back(in->constant);
    absl::StatusOr<std::shared_ptr<const PreparedKernel>> prepared =
        plan_->cache->Prepare(node, specs, constants, outputs, plan_->services);
    if (absl::IsUnimplemented(prepared.status()) && values_missing) {
      // It may lack a value that will be known at run time.
      return steps_.Add<DynamicKernelStep>(node, inputs, ports, node, op);
    }
    if (!prepared.ok()) return prepared.status();
    TENON_RETURN_IF_ERROR(steps_.AddFlat(node, *std::move(prepared), inputs, ports));
    steps_.ReleasePacked(node);
    return absl::OkStatus();
  }

  absl::StatusOr<PlanValue*> OutputValue(const GraphOutput& output) {
    std::vector<PlanValue>& ports = values_[static_cast<size_t>(output.source.node)];
    const int port = output.source.port;
    if (port >= 0 && static_cast<size_t>(port) < ports.size()) {
      return &ports[static_cast<size_t>(port)];
    }
    return InvalidArgument("output '", output.name, "' asks for '",
                           EndpointName(graph_, output.source), "', which that node does not have");
  }

  absl::Status AddOutputs() {
    for (const GraphOutput& output : graph_.outputs()) {
      TENON_ASSIGN_OR_RETURN(PlanValue * found, OutputValue(output));
      PlanValue& value = *found;
      TENON_RETURN_IF_ERROR(steps_.BringToHost(graph_.node(output.source.node), value));
      TENON_ASSIGN_OR_RETURN(int buffer, steps_.BufferOf(value));
      if (memory_.IsPart(buffer)) {
        PlanValue copy = value;
        copy.buffer = memory_.AddHeld({value.spec.dtype, value.spec.shape, nullptr}, steps_.now());
        TENON_RETURN_IF_ERROR(
            steps_.Add<CopyStep>(graph_.node(output.source.node), {&value}, {copy}));
        value.buffer = buffer = copy.buffer;
      }
      memory_.Read(buffer, steps_.now());
      memory_.Fetch(buffer, value.spec);
      plan_->outputs.push_back({buffer, value.spec.dtype, value.spec.shape, value.items});
    }
    return absl::OkStatus();
  }

  std::shared_ptr<FlatPlan> plan_;
  const Graph& graph_;
  PlanMemory memory_;
  PlanSteps steps_;
  std::vector<std::vector<PlanValue>> values_;  // by node, then port
  HashSet<NodeId> fed_;
  bool has_values_ = false;  // feeds have the values of their specs in every run
  bool dynamic_ = false;     // in a dry run
  absl::Span<Constant* const> feed_constants_;
  std::vector<bool> invariant_;  // by feed; empty: the plan is not of a loop
};

// Of a size that is not known ahead; not what only moves or makes a few elements.
bool MayTakeLong(const StepInfo& dynamic) {
  const OpLookup op = FindOp(dynamic.op);
  return op && op.info->row.accelerated != nullptr && !op.info->row.elementwise;
}

// So much more may a function do than a whole run, for its few products lie between many steps of
// one thread: an iteration of an LSTM of 192 units takes a third longer by two threads than by one,
// of 256 units a sixth less.
constexpr int kMoreInFunctions = 2;

// Whether it takes less than `small`.
bool IsSmall(const FlatPlan& plan, const SmallRuns& small, bool is_body) {
  double flops = 0;
  int64_t bytes = 0;
  for (const StepInfo& step : plan.Describe()) {
    if (step.dynamic && (!is_body || MayTakeLong(step))) return false;
    flops += step.flops;
    bytes += step.bytes;
  }
  const int more = is_body ? kMoreInFunctions : 1;
  return flops < more * small.flops && bytes < more * small.bytes;
}

// Builds again for one thread what is too small for several.
template <typename Build>
absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildForThreads(const Services& services,
                                                                bool is_body, const Build& build) {
  absl::StatusOr<std::shared_ptr<const FlatPlan>> plan = build(services);
  const SmallRuns& small = services.small_runs;
  if (services.threads == 1 || small.flops == 0 || !plan.ok()) return plan;
  if (!IsSmall(**plan, small, is_body)) return plan;
  Services one = services;
  one.threads = 1;
  return build(one);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildPlan(std::shared_ptr<const ModelState> model,
                                                          absl::Span<const TensorSpec> feeds,
                                                          const Services& services,
                                                          KernelCache& cache) {
  return BuildForThreads(services, /*is_body=*/false, [&](const Services& of_plan) {
    return PlanBuilder(model, of_plan, &cache).BuildTop(feeds);
  });
}

absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildFunctionPlan(
    std::shared_ptr<const ModelState> model, absl::Span<const TensorSpec> arguments,
    absl::Span<Constant* const> constants, const std::vector<bool>& invariant,
    const Services& services, KernelCache& cache) {
  return BuildForThreads(services, /*is_body=*/true, [&](const Services& of_plan) {
    PlanBuilder builder(model, of_plan, &cache);
    builder.OfFunction(constants, invariant);
    return builder.Build(arguments);
  });
}

absl::StatusOr<PlanDryRun> DryRunPlan(std::shared_ptr<const ModelState> model,
                                      absl::Span<const TensorSpec> feeds,
                                      const Services& services) {
  return PlanBuilder(std::move(model), services, nullptr).DryRun(feeds);
}

}  // namespace tenon
