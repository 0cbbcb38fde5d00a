#include "runtime/plan/body.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "ops/op.h"
#include "runtime/plan/plan_builder.h"

namespace tenon {
namespace {

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

std::vector<Shape> PlannedShapes(const FlatPlan& plan) {
  std::vector<Shape> shapes;
  for (const PlanOutput& output : plan.outputs) shapes.push_back(output.shape);
  return shapes;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const FlatPlan>> Body::PlanFor(absl::Span<const Tensor> feeds,
                                                              const Services& services,
                                                              KernelCache& cache) {
  return plans_.Get(feeds, [&] {
    std::vector<TensorSpec> specs;
    for (const Tensor& t : feeds) specs.push_back({t.dtype(), t.shape(), &t});
    return BuildPlan(model_, specs, services, cache);
  });
}

absl::StatusOr<std::vector<Tensor>> Body::Call(absl::Span<const Tensor> arguments,
                                               const Services& services, KernelCache& cache) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const FlatPlan> plan,
                         PlanFor(arguments, services, cache));
  return plan->RunShared(arguments);
}

Body* Bodies::Find(const std::string& name) const {
  auto it = bodies_.find(name);
  return it == bodies_.end() ? nullptr : it->second.get();
}

void Bodies::Add(const std::string& name, std::unique_ptr<Body> body) {
  bodies_[name] = std::move(body);
}

bool IsCall(absl::string_view op) { return FactsOf(op).control_flow != ControlFlow::kNone; }

absl::StatusOr<CallForm> CallFormOf(const Node& node, const Bodies& bodies) {
  CallForm form;
  std::vector<const FuncRef*> functions;
  const ControlFlow flow = FactsOf(node.op).control_flow;
  if (flow == ControlFlow::kIf) {
    functions = {node.attr<FuncRef>("then_branch"), node.attr<FuncRef>("else_branch")};
  } else if (flow == ControlFlow::kWhile) {
    form.kind = CallForm::kWhile;
    functions = {node.attr<FuncRef>("cond"), node.attr<FuncRef>("body")};
  } else {
    form.kind = CallForm::kCase;
    if (const auto* list = node.attr<std::vector<FuncRef>>("branches")) {
      for (const FuncRef& f : *list) functions.push_back(&f);
    }
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

std::vector<Shape> CallOutputShapes(const CallForm& form, absl::Span<const TensorSpec> inputs,
                                    size_t num_outputs, const Services& services,
                                    KernelCache& cache) {
  const std::vector<Shape> unknown(num_outputs, Shape::Unknown());
  std::vector<Tensor> feeds;
  for (size_t i = static_cast<size_t>(form.first_input); i < inputs.size(); ++i) {
    if (!inputs[i].shape.IsComplete()) return unknown;
    const bool list = inputs[i].dtype == DType::kVariant && inputs[i].value != nullptr;
    feeds.push_back(list
                        ? *inputs[i].value
                        : Tensor::FromExternal(inputs[i].dtype, inputs[i].shape, nullptr, nullptr));
  }
  std::vector<Shape> shapes;
  const bool loop = form.kind == CallForm::kWhile;
  if (loop) {
    for (const Tensor& t : feeds) shapes.push_back(t.shape());
  }
  for (size_t i = loop ? 1 : 0; i < form.bodies.size(); ++i) {
    const auto plan = form.bodies[i]->PlanFor(feeds, services, cache);
    if (!plan.ok()) return unknown;
    const std::vector<Shape> results = PlannedShapes(**plan);
    if (shapes.empty()) shapes = results;
    for (size_t k = 0; k < shapes.size(); ++k) {
      const Shape item = loop ? CommonItemShape(feeds[k]) : Shape::Unknown();
      if (item.IsComplete() && (*plan)->outputs[k].item != item) return unknown;
      if (results[k].IsComplete() && results[k] == shapes[k]) continue;
      if (loop) return unknown;  // the next iteration may change other shapes as well
      shapes[k] = Shape::Unknown();
    }
  }
  return shapes;
}

}  // namespace tenon
