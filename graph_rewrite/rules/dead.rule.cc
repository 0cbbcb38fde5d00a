// Removes nodes that no output, target or kept node needs.
#include <vector>

#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status RemoveDead(RuleContext& context) {
  const Graph& g = context.graph();
  std::vector<bool> needed(static_cast<size_t>(g.end_id()), false);
  std::vector<NodeId> todo;
  auto need = [&](NodeId id) {
    if (!g.Has(id) || needed[static_cast<size_t>(id)]) return;
    needed[static_cast<size_t>(id)] = true;
    todo.push_back(id);
  };
  for (const GraphOutput& o : g.outputs()) need(o.source.node);
  for (const GraphInput& i : g.inputs()) need(i.node);
  for (NodeId t : g.targets()) need(t);
  while (!todo.empty()) {
    const Node& n = g.node(todo.back());
    todo.pop_back();
    for (const Endpoint& e : n.inputs) need(e.node);
    for (NodeId c : n.control_inputs) need(c);
  }
  auto order = g.TopologicalOrder();
  if (!order.ok()) return order.status();
  for (auto it = order->rbegin(); it != order->rend(); ++it) {  // readers first
    if (needed[static_cast<size_t>(*it)]) continue;
    context.Step("RemoveDead", g.node(*it).name);
    context.rw.Remove(*it);
    context.EndStep("RemoveDead");
  }
  return absl::OkStatus();
}

const RuleRegistration dead({
    .name = "RemoveDead",
    .doc = "nodes that no output or target needs are removed",
    .phase = Phase::kClean,
    .sweep = RemoveDead,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
