#include "runtime/plan/model_state.h"

#include <cstdint>

#include "env/status.h"
#include "graph_rewrite/loop_invariants.h"
#include "kernels/random/sequence.h"
#include "ops/op.h"
#include "runtime/plan/body.h"

namespace tenon {
namespace {

std::vector<bool> LiveNodes(const Graph& graph) {
  std::vector<bool> live(static_cast<size_t>(graph.end_id()), false);
  std::vector<NodeId> stack;
  auto need = [&](NodeId id) {
    if (!graph.Has(id) || live[static_cast<size_t>(id)]) return;
    live[static_cast<size_t>(id)] = true;
    stack.push_back(id);
  };
  for (const GraphOutput& output : graph.outputs()) need(output.source.node);
  for (NodeId id : graph.targets()) need(id);
  while (!stack.empty()) {
    const Node& node = graph.node(stack.back());
    stack.pop_back();
    for (const Endpoint& e : node.inputs) need(e.node);
    for (NodeId id : node.control_inputs) need(id);
  }
  return live;
}

// Ids keep their order, so that ties in the topological order are resolved as in the original.
absl::StatusOr<Graph> WithoutWeights(const Graph& graph, SessionVariables& variables,
                                     std::vector<Tensor>& weights) {
  std::vector<NodeId> renumbered(static_cast<size_t>(graph.end_id()), kNoNode);
  NodeId next = 0;
  for (NodeId id : graph.NodeIds()) renumbered[static_cast<size_t>(id)] = next++;
  auto map = [&](NodeId id) {
    return graph.Has(id) ? renumbered[static_cast<size_t>(id)] : kNoNode;
  };

  Graph out;
  weights.resize(static_cast<size_t>(next));
  for (NodeId id : graph.NodeIds()) {
    Node node = graph.node(id);
    for (Endpoint& e : node.inputs) e.node = map(e.node);
    for (NodeId& c : node.control_inputs) c = map(c);
    if (node.op == "Const") {
      const Tensor* value = node.attr<Tensor>("value");
      if (value == nullptr || !value->valid()) {
        return InvalidArgument(NodeLabel(node), " has no value");
      }
      weights[static_cast<size_t>(map(id))] = *value;
      node.attrs.erase("value");
    } else if (FactsOf(node.op).import_role == ImportRole::kMutableTable) {
      TENON_ASSIGN_OR_RETURN(weights[static_cast<size_t>(map(id))], variables.TableHandle(node));
      node.attrs.erase(kInitialKeysAttr);
      node.attrs.erase(kInitialValuesAttr);
    } else if (node.op == "VarHandleOp") {
      TENON_ASSIGN_OR_RETURN(weights[static_cast<size_t>(map(id))], variables.Handle(node));
      node.attrs.erase(kInitialValueAttr);
    }
    TENON_RETURN_IF_ERROR(RandomSequence::Attach(node));
    TENON_RETURN_IF_ERROR(variables.shared().Attach(node));
    TENON_RETURN_IF_ERROR(out.AddNode(std::move(node)).status());
  }
  for (const GraphInput& input : graph.inputs()) out.AddInput({input.name, map(input.node)});
  for (const GraphOutput& output : graph.outputs()) {
    out.AddOutput({output.name, {map(output.source.node), output.source.port}});
  }
  for (NodeId id : graph.targets()) out.AddTarget(map(id));
  return out;
}

bool Misaligned(const Tensor& t) {
  const size_t size = t.dtype() == DType::kString ? alignof(std::string) : SizeOf(t.dtype());
  return size > 1 && reinterpret_cast<uintptr_t>(t.raw()) % (size > 8 ? 8 : size) != 0;
}

// Tells the functions that the graph's loops call.
void FindLoops(const Graph& graph, const Bodies& bodies) {
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    if (FactsOf(node.op).control_flow != ControlFlow::kWhile) continue;
    const auto called = [&](const char* attr) {
      const auto* function = node.attr<FuncRef>(attr);
      return function == nullptr ? nullptr : bodies.Find(function->name);
    };
    Body* const condition = called("cond");
    Body* const body = called("body");
    if (condition == nullptr || body == nullptr) continue;  // an error when it is planned
    const std::vector<bool> invariant = InvariantArguments(body->model().graph());
    condition->OfLoop(invariant);
    body->OfLoop(invariant);
  }
}

}  // namespace

ModelState::~ModelState() = default;

void ModelState::AddBytes(int64_t& plain, int64_t& derived) const {
  for (const std::unique_ptr<Constant>& constant : constants_) {
    if (constant == nullptr) continue;
    if (constant->holds_plain()) {
      plain += constant->shape().num_elements() * static_cast<int64_t>(SizeOf(constant->dtype()));
    }
    derived += static_cast<int64_t>(constant->derived_bytes());
  }
  if (owned_bodies_ == nullptr) return;
  owned_bodies_->ForEach([&](const Body& body) { body.model().AddBytes(plain, derived); });
}

absl::StatusOr<std::shared_ptr<const ModelState>> ModelState::Create(Graph graph,
                                                                     SessionVariables& variables) {
  FunctionLibrary functions = graph.TakeFunctions();
  auto bodies = std::make_unique<Bodies>();
  auto states = std::make_shared<StatePool>();
  for (auto& [name, function] : functions) {
    Graph body = *function;
    function.reset();
    absl::StatusOr<std::shared_ptr<ModelState>> model = CreateOne(std::move(body), variables);
    if (!model.ok()) return Annotate(model.status(), absl::StrCat("function '", name, "'"));
    (*model)->bodies_ = bodies.get();
    (*model)->states_ = states;
    bodies->Add(name, std::make_unique<Body>(*std::move(model)));
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<ModelState> model, CreateOne(std::move(graph), variables));
  bodies->ForEach([&](const Body& body) { FindLoops(body.model().graph(), *bodies); });
  FindLoops(model->graph(), *bodies);
  model->bodies_ = bodies.get();
  model->owned_bodies_ = std::move(bodies);
  model->states_ = std::move(states);
  return std::shared_ptr<const ModelState>(std::move(model));
}

absl::StatusOr<std::shared_ptr<ModelState>> ModelState::CreateOne(Graph graph,
                                                                  SessionVariables& variables) {
  auto model = std::make_shared<ModelState>();
  std::vector<Tensor> weights;
  TENON_ASSIGN_OR_RETURN(model->graph_, WithoutWeights(graph, variables, weights));
  graph = Graph();  // drop the caller's reference, so that the constants hold the weights' buffers
                    // alone
  const Graph& g = model->graph_;

  for (const GraphInput& input : g.inputs()) {
    if (!g.Has(input.node)) return InvalidArgument("input '", input.name, "' has no node");
  }
  for (const GraphOutput& output : g.outputs()) {
    if (!g.Has(output.source.node))
      return InvalidArgument("output '", output.name, "' has no node");
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, g.TopologicalOrder());
  model->live_ = LiveNodes(g);
  for (NodeId id : order) {
    if (model->is_live(id)) model->order_.push_back(id);
  }

  model->constants_.resize(weights.size());
  model->small_values_.resize(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    Tensor& t = weights[i];
    if (!t.valid()) continue;
    if (Misaligned(t)) {
      TENON_ASSIGN_OR_RETURN(t, t.Clone());
    }
    if (t.bytes() <= kSmallBytes) model->small_values_[i] = t;
    if (model->live_[i]) model->constants_[i] = std::make_unique<Constant>(std::move(t));
  }
  return model;
}

}  // namespace tenon
