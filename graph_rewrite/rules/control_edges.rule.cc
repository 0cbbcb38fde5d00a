// Drops control edges that order nothing: from nodes without side effects whose inputs have none
// either; or to a node without side effects whose readers all wait for the edge's source as well
// (gradients delay their operands until they are needed).
#include <algorithm>
#include <vector>

#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

bool HasEffect(const Node& n) {
  const OpLookup op = FindOp(n.op);
  return !op || op.info->row.stateful;
}

// Whether `id` reads `source`, at most `steps` nodes away, on a path that avoids `without`.
bool Reads(const RuleContext& context, NodeId id, NodeId source, NodeId without, int steps) {
  const Node& n = context.node(id);
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](const Endpoint& e) {
    if (e.node == without) return false;
    return e.node == source || (steps > 1 && Reads(context, e.node, source, without, steps - 1));
  });
}

// Whether a program runs the graph that has loops and branches between nodes. In those, a control
// edge also tells to which of them a node without inputs belongs.
bool RunsElsewhere(const Graph& g) {
  const std::vector<NodeId> ids = g.NodeIds();
  return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return g.node(id).op == "_Opaque"; });
}

// Whether all uses of `id`, which has no side effects itself, come after `source` anyway.
bool ReadersWaitFor(const RuleContext& context, NodeId id, NodeId source) {
  constexpr int kSteps = 3;
  if (HasEffect(context.node(id)) || context.rw.IsKept(id)) return false;
  const absl::Span<const Use> uses = context.rw.uses(id);
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    return Reads(context, use.reader, source, id, kSteps);
  });
}

absl::Status DropControlEdges(RuleContext& context) {
  const Graph& g = context.graph();
  const std::vector<NodeId> ids = g.NodeIds();
  if (std::none_of(ids.begin(), ids.end(),
                   [&](NodeId id) { return !g.node(id).control_inputs.empty(); })) {
    return absl::OkStatus();
  }
  auto order = g.TopologicalOrder();
  if (!order.ok()) return order.status();
  const bool elsewhere = RunsElsewhere(g);
  // Whether the node, or any node that it waits for, has side effects.
  std::vector<bool> effect(static_cast<size_t>(g.end_id()), false);
  for (NodeId id : *order) {
    const Node& n = g.node(id);
    bool e = HasEffect(n);
    for (const Endpoint& in : n.inputs) e = e || effect[static_cast<size_t>(in.node)];
    for (NodeId c : n.control_inputs) e = e || effect[static_cast<size_t>(c)];
    effect[static_cast<size_t>(id)] = e;
  }
  for (NodeId id : *order) {
    const Node& n = g.node(id);
    if (n.control_inputs.empty()) continue;
    std::vector<NodeId> keep;
    auto add = [&](NodeId c) {
      const bool reads = std::any_of(n.inputs.begin(), n.inputs.end(),
                                     [&](const Endpoint& e) { return e.node == c; });
      if (!effect[static_cast<size_t>(c)] || reads) return;
      const bool places = elsewhere && n.inputs.empty();
      if (!places && ReadersWaitFor(context, id, c)) return;
      if (std::find(keep.begin(), keep.end(), c) == keep.end()) keep.push_back(c);
    };
    for (NodeId c : n.control_inputs) {
      // A NoOp only collects edges. (Its own were handled before: topological order.)
      if (g.node(c).op == "NoOp") {
        for (NodeId inner : g.node(c).control_inputs) add(inner);
      } else {
        add(c);
      }
    }
    if (keep == std::vector<NodeId>(n.control_inputs.begin(), n.control_inputs.end())) continue;
    context.Step("DropControlEdges", n.name);
    context.rw.SetControlInputs(id, keep);
    context.EndStep("DropControlEdges");
  }
  return absl::OkStatus();
}

const RuleRegistration control_edges({
    .name = "DropControlEdges",
    .doc = "control edges from nodes without side effects, or that the node's readers have as "
           "well, are dropped",
    .phase = Phase::kClean,
    .sweep = DropControlEdges,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
