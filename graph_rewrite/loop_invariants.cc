#include "graph_rewrite/loop_invariants.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {

std::vector<bool> InvariantArguments(const Graph& body) {
  std::vector<bool> invariant;
  const size_t n = std::min(body.inputs().size(), body.outputs().size());
  for (size_t i = 0; i < n; ++i) {
    invariant.push_back(body.outputs()[i].source == Endpoint{body.inputs()[i].node, 0});
  }
  return invariant;
}

HashSet<std::string> LoopBodies(const Graph& graph) {
  HashSet<std::string> bodies;
  const auto add = [&](const Graph& g) {
    for (NodeId id : g.NodeIds()) {
      const Node& n = g.node(id);
      if (FactsOf(n.op).control_flow != ControlFlow::kWhile) continue;
      if (const auto* body = n.attr<FuncRef>("body")) bodies.insert(body->name);
    }
  };
  add(graph);
  for (const auto& [name, function] : graph.functions()) add(*function);
  return bodies;
}

LoopInvariants::LoopInvariants(const Graph& body) {
  const std::vector<bool> invariant = InvariantArguments(body);
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const bool same = i < invariant.size() && invariant[i];
    known_[body.inputs()[i].node] = same ? Kind::kInvariant : Kind::kVarying;
  }
}

LoopInvariants::Kind LoopInvariants::KindOf(const Node& n, Kind inputs) {
  const OpRow& row = FactsOf(n.op);
  if (row.stateful || row.control_flow != ControlFlow::kNone) return Kind::kVarying;
  const bool work = inputs == Kind::kInvariant && row.precision == PrecisionRole::kLeads;
  return work ? Kind::kWork : inputs;
}

LoopInvariants::Kind LoopInvariants::KindOf(const Graph& body, NodeId node) {
  std::vector<NodeId> todo = {node};
  while (!todo.empty()) {
    const Node& n = body.node(todo.back());
    Kind inputs = Kind::kConstant;
    bool ready = true;
    for (const Endpoint& e : n.inputs) {
      const auto found = known_.find(e.node);
      if (found == known_.end()) {
        todo.push_back(e.node);
        ready = false;
      } else {
        inputs = std::max(inputs, found->second);
      }
    }
    if (!ready) continue;
    todo.pop_back();
    known_[n.id] = KindOf(n, inputs);
  }
  return known_.at(node);
}

bool LoopInvariants::EndAt(const Graph& body, NodeId node, NodeId reader) {
  if (known_.empty()) return false;
  const auto kind = [&](NodeId id) {
    const auto found = known_.find(id);
    return found != known_.end() ? found->second : KindOf(body, id);
  };
  return kind(node) == Kind::kWork && kind(reader) == Kind::kVarying;
}

}  // namespace tenon
