#include "graph_rewrite/loop_bounds.h"

#include <utility>

#include "graph_rewrite/body_columns.h"
#include "graph_rewrite/loop_invariants.h"

namespace tenon {

bool CountsSteps(RuleContext& context, const Node& loop, const Graph& body, size_t variable) {
  const Endpoint own = {body.inputs()[variable].node, 0};
  const Node& n = body.node(body.outputs()[variable].source.node);
  if (n.op != "AddV2") return false;
  for (size_t side : {0, 1}) {
    if (n.inputs[side] == own && IntegerIn(body, n.inputs[1 - side], 0) == 1 &&
        IntegerIn(context.graph(), loop.inputs[variable], -1) == 0) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<std::vector<LoopBound>> ReadLoopBounds(RuleContext& context, const Node& loop,
                                                      const Graph& cond, const Graph& body) {
  HashMap<NodeId, size_t> variable;
  for (size_t i = 0; i < cond.inputs().size(); ++i) variable[cond.inputs()[i].node] = i;
  const std::vector<bool> invariant = InvariantArguments(body);
  std::vector<LoopBound> bounds;
  std::vector<NodeId> todo = {cond.outputs()[0].source.node};
  HashSet<NodeId> seen;
  while (!todo.empty()) {
    const Node& n = cond.node(todo.back());
    todo.pop_back();
    if (!seen.insert(n.id).second) continue;
    if (n.op == "LogicalAnd") {
      for (Endpoint e : n.inputs) todo.push_back(e.node);
      continue;
    }
    if (n.op != "Less" && n.op != "Greater") return WhyNot("its condition has another form");
    Endpoint counter = n.inputs[0], bound = n.inputs[1];
    if (n.op == "Greater") std::swap(counter, bound);
    const auto it = variable.find(counter.node);
    if (it == variable.end() || !CountsSteps(context, loop, body, it->second)) {
      return WhyNot("its condition does not compare a counter");
    }
    LoopBound b;
    if (const auto of = variable.find(bound.node); of != variable.end()) {
      if (!invariant[of->second]) return WhyNot("the number of steps changes in the loop");
      b.outer = loop.inputs[of->second];
    } else {
      b.value = IntegerIn(cond, bound, -1);
      if (b.value < 0) return WhyNot("the number of steps is computed in its condition");
      seen.insert(bound.node);
    }
    bounds.push_back(b);
  }
  if (bounds.empty()) return WhyNot("its condition has another form");
  for (NodeId id : cond.NodeIds()) {
    if (!seen.contains(id) && !variable.contains(id)) {
      return WhyNot("its condition computes more than a comparison");
    }
  }
  return bounds;
}

}  // namespace tenon
