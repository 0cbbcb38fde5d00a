#include "runtime/plan/calls.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "graph_rewrite/call_shapes.h"
#include "graph_rewrite/loop_invariants.h"
#include "ops/control/branch.h"
#include "ops/op.h"
#include "runtime/execution/element_call_step.h"
#include "runtime/plan/plan_builder.h"

namespace tenon {
namespace {

// Shapes become more general in each round; most loops settle in two.
constexpr int kRounds = 6;

absl::StatusOr<Body*> FindBody(const FuncRef* function, const Bodies& bodies) {
  if (function == nullptr) return InvalidArgument("does not name its function");
  Body* body = bodies.Find(function->name);
  if (body == nullptr) return InvalidArgument("there is no function '", function->name, "'");
  return body;
}

absl::Status CheckSignature(const Body& body, size_t inputs, size_t outputs) {
  const Graph& graph = body.model().graph();
  if (graph.inputs().size() == inputs && graph.outputs().size() == outputs) {
    return absl::OkStatus();
  }
  return InvalidArgument("a function takes ", graph.inputs().size(), " arguments and gives ",
                         graph.outputs().size(), " results; expected ", inputs, " and ", outputs);
}

absl::StatusOr<CallForm> ElementFormOf(const Node& node, const Bodies& bodies) {
  TENON_ASSIGN_OR_RETURN(const std::vector<DType> results,
                         OutputDTypes(*FindOp(node.op).info, node));
  CallForm form;
  form.kind = CallForm::kElements;
  for (const ElementCall::Argument& function : FindElementCall(node.op)->functions) {
    TENON_ASSIGN_OR_RETURN(Body * body, FindBody(node.attr<FuncRef>(function.attr), bodies));
    TENON_RETURN_IF_ERROR(
        CheckSignature(*body, 2 * results.size(), function.combines ? results.size() : 1));
    form.bodies.push_back(body);
  }
  return form;
}

bool AreComplete(absl::Span<const TensorSpec> specs) {
  return std::all_of(specs.begin(), specs.end(),
                     [](const TensorSpec& s) { return s.shape.IsComplete(); });
}

// What a function's plan tells about a call.
struct Outcome {
  std::vector<CallResult> results;
  std::vector<ItemState> items;  // by argument
};

class Planner {
 public:
  Planner(const CallForm& form, const CallArguments& arguments, const Services& services,
          KernelCache* cache)
      : form_(form), arguments_(arguments), services_(services), cache_(cache) {
    for (const TensorSpec& s : arguments.specs) {
      const bool items = s.value != nullptr && HoldsItems(*s.value);
      specs_.push_back({s.dtype, s.shape, items ? s.value : nullptr});
    }
    handles_.resize(specs_.size());
  }

  // Of any branch.
  absl::StatusOr<Outcome> Branches() const {
    Outcome all;
    for (Body* body : form_.bodies) {
      TENON_ASSIGN_OR_RETURN(Outcome one, OutcomeOf(*body, specs_));
      if (body == form_.bodies[0]) {
        all = std::move(one);
        continue;
      }
      for (size_t k = 0; k < all.results.size(); ++k) {
        CallResult& result = all.results[k];
        result.shape = CommonShape(result.shape, one.results[k].shape);
        result.items = result.items.Or(one.results[k].items);
      }
      for (size_t i = 0; i < all.items.size(); ++i) all.items[i] = all.items[i].Or(one.items[i]);
    }
    return all;
  }

  // Of any number of iterations, none included: from the first one's shapes to what all have in
  // common.
  absl::StatusOr<Outcome> Loop() {
    Outcome all;
    for (const TensorSpec& s : specs_) {
      all.items.push_back(s.value == nullptr ? ItemState() : ItemStateOf(*s.value));
      all.results.push_back({s.shape, all.items.back(), nullptr});
    }
    for (int round = 0; round < kRounds; ++round) {
      TENON_ASSIGN_OR_RETURN(const Outcome one, OutcomeOf(*form_.bodies[1], specs_));
      bool settled = true;
      for (size_t k = 0; k < all.results.size(); ++k) {
        CallResult& result = all.results[k];
        const Shape shape = CommonShape(result.shape, one.results[k].shape);
        settled &= shape == result.shape;
        result.shape = specs_[k].shape = shape;
        if (!HasItems(k)) continue;
        const bool list = specs_[k].dtype == DType::kVariant;
        const ItemState items = all.items[k].Or(list ? one.results[k].items : one.items[k]);
        settled &= items == all.items[k];
        all.items[k] = result.items = items;
        TENON_RETURN_IF_ERROR(SetItems(k, items));
      }
      if (settled) return all;
    }
    return Unimplemented("the shapes of a loop do not settle");
  }

  // A plan that knows the arguments' values and weights; those not in `fixed` may change. Null:
  // nothing is to be gained, or nothing is kept.
  std::shared_ptr<const FlatPlan> Special(Body& body, const std::vector<bool>& fixed) const {
    if (cache_ == nullptr || !AreComplete(specs_)) return nullptr;
    std::vector<TensorSpec> specs = specs_;
    std::vector<Constant*> constants(specs.size(), nullptr);
    bool gain = false;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (HasItems(i)) {
        gain |= ItemStateOf(*specs[i].value).value != nullptr;
        continue;
      }
      if (!fixed[i] || specs[i].dtype == DType::kVariant) continue;
      specs[i].value = arguments_.specs[i].value;
      constants[i] = arguments_.constants[i];
      gain |= specs[i].value != nullptr || constants[i] != nullptr;
    }
    if (!gain) return nullptr;
    auto plan = body.BuildSpecial(specs, constants, services_, *cache_);
    return plan.ok() ? *std::move(plan) : nullptr;
  }

  std::vector<Shape> Shapes() const {
    std::vector<Shape> shapes;
    for (const TensorSpec& s : specs_) shapes.push_back(s.shape);
    return shapes;
  }

 private:
  // Of a list, a stack or an array.
  bool HasItems(size_t i) const { return specs_[i].value != nullptr; }

  absl::Status SetItems(size_t i, const ItemState& items) {
    TENON_ASSIGN_OR_RETURN(handles_[i], PlannedHandle(specs_[i].dtype, items));
    specs_[i].value = &handles_[i];
    return absl::OkStatus();
  }

  static Outcome ToOutcome(absl::Span<const PlanOutput> outputs, std::vector<ItemState> items) {
    Outcome outcome;
    for (const PlanOutput& output : outputs) {
      outcome.results.push_back({output.shape, output.items, {}});
    }
    outcome.items = std::move(items);
    return outcome;
  }

  absl::StatusOr<Outcome> OutcomeOf(Body& body, absl::Span<const TensorSpec> specs) const {
    // Kept plans know the shape of tensors only: not their values, and not whether an object that
    // states none is empty or has tensors of many shapes.
    const bool more = std::any_of(specs.begin(), specs.end(), [](const TensorSpec& s) {
      if (s.value == nullptr) return false;
      const ItemState items = ItemStateOf(*s.value);
      return items.none || items.value != nullptr;
    });
    if (cache_ == nullptr || more || !AreComplete(specs)) {
      TENON_ASSIGN_OR_RETURN(PlanDryRun dry_run, DryRunPlan(body.shared_model(), specs, services_));
      return ToOutcome(dry_run.results, std::move(dry_run.feed_items));
    }
    std::vector<Tensor> feeds;  // of which only dtypes and shapes count
    for (const TensorSpec& s : specs) {
      feeds.push_back(
          s.value != nullptr ? *s.value : Tensor::FromExternal(s.dtype, s.shape, nullptr, nullptr));
    }
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const FlatPlan> plan,
                           body.PlanFor(feeds, {}, services_, *cache_));
    return ToOutcome(plan->outputs, plan->feed_items);
  }

  const CallForm& form_;
  const CallArguments& arguments_;
  const Services& services_;
  KernelCache* const cache_;
  std::vector<TensorSpec> specs_;  // of the calls planned so far
  std::vector<Tensor> handles_;    // what the specs' values are for stacks and arrays
};

// The results of the one plan that all calls run; with values, where they are constants.
std::vector<CallResult> ResultsOf(const FlatPlan& plan) {
  std::vector<CallResult> results;
  for (const PlanOutput& output : plan.outputs) {
    CallResult& result = results.emplace_back();
    result.shape = output.shape;
    result.items = output.items;
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    if (buffer.kind != Buffer::Kind::kConstant || HoldsObjects(output.dtype)) continue;
    const Tensor& constant = plan.constants[static_cast<size_t>(buffer.index)];
    absl::StatusOr<Tensor> value = constant.Reshaped(output.shape);
    if (!value.ok() || value->bytes() > ModelState::kSmallBytes) continue;
    result.value = std::make_shared<const Tensor>(*std::move(value));
  }
  return results;
}

}  // namespace

bool IsCall(absl::string_view op) {
  return FactsOf(op).control_flow != ControlFlow::kNone || FindElementCall(op) != nullptr;
}

bool TakesVectors(const Body& body) {
  const ModelState& model = body.model();
  for (NodeId id : model.order()) {
    const Node& n = model.graph().node(id);
    if (const Constant* constant = model.constant(id)) {
      if (constant->shape().rank() != 0) return false;
    } else if (n.op != "Placeholder" && n.op != "Identity" && !FactsOf(n.op).elementwise) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<CallForm> CallFormOf(const Node& node, const Bodies& bodies) {
  if (FindElementCall(node.op) != nullptr) return ElementFormOf(node, bodies);
  CallForm form;
  std::vector<const FuncRef*> functions;
  const ControlFlow flow = FactsOf(node.op).control_flow;
  if (flow == ControlFlow::kWhile) {
    form.kind = CallForm::kWhile;
    functions = {node.attr<FuncRef>("cond"), node.attr<FuncRef>("body")};
  } else {
    form.kind = flow == ControlFlow::kIf ? CallForm::kIf : CallForm::kCase;
    functions = BranchesOf(node);
    if (functions.empty()) return InvalidArgument("has no branches");
  }
  form.first_input = form.kind == CallForm::kWhile ? 0 : 1;
  const size_t args = node.inputs.size() - static_cast<size_t>(form.first_input);
  const auto* types = node.attr<std::vector<DType>>("Tout");
  const size_t results =
      form.kind == CallForm::kWhile ? args : (types == nullptr ? 0 : types->size());
  for (size_t i = 0; i < functions.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Body * body, FindBody(functions[i], bodies));
    const bool condition = form.kind == CallForm::kWhile && i == 0;
    TENON_RETURN_IF_ERROR(CheckSignature(*body, args, condition ? 1 : results));
    form.bodies.push_back(body);
  }
  return form;
}

void ChooseBranch(const Node& node, const Tensor& selector, CallForm& form) {
  const int chosen = ChosenBranch(node, selector);
  if (chosen < 0) return;
  form.bodies = {form.bodies[static_cast<size_t>(chosen)]};
  form.kind = CallForm::kBranch;
}

PlannedCall PlanCallOf(const CallForm& form, const CallArguments& arguments, size_t num_outputs,
                       const Services& services, KernelCache* cache) {
  PlannedCall call;
  call.results.resize(num_outputs);
  call.plans.resize(form.bodies.size());
  Planner planner(form, arguments, services, cache);
  const bool loop = form.kind == CallForm::kWhile;
  if (form.kind == CallForm::kBranch) {
    const std::vector<bool> fixed(arguments.specs.size(), true);
    call.plans[0] = planner.Special(*form.bodies[0], fixed);
    if (call.plans[0] != nullptr) {
      call.results = ResultsOf(*call.plans[0]);
      call.items = call.plans[0]->feed_items;
      return call;
    }
  }
  auto outcome = loop ? planner.Loop() : planner.Branches();
  if (loop && !outcome.ok()) call.general.assign(num_outputs, Shape::Unknown());
  if (!outcome.ok() || outcome->results.size() != num_outputs) return call;
  call.results = std::move(outcome->results);
  call.items = std::move(outcome->items);
  if (!loop) return call;
  call.general = planner.Shapes();
  const std::vector<bool> fixed = InvariantArguments(form.bodies[1]->model().graph());
  for (size_t i = 0; i < form.bodies.size(); ++i) {
    call.plans[i] = planner.Special(*form.bodies[i], fixed);
  }
  return call;
}

}  // namespace tenon
