#include "graph_rewrite/inline_body.h"

#include <algorithm>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/context.h"

namespace tenon {
namespace {

// The nodes that the ends need, through data and control edges.
HashSet<NodeId> NeededBy(const Graph& body, absl::Span<const Endpoint> ends) {
  HashSet<NodeId> needed;
  std::vector<NodeId> todo;
  for (const Endpoint& e : ends) todo.push_back(e.node);
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    if (!needed.insert(id).second) continue;
    const Node& n = body.node(id);
    for (const Endpoint& e : n.inputs) todo.push_back(e.node);
    todo.insert(todo.end(), n.control_inputs.begin(), n.control_inputs.end());
  }
  return needed;
}

}  // namespace

absl::StatusOr<std::vector<Endpoint>> InlineBody(RuleContext& context, const Graph& body,
                                                 absl::Span<const Endpoint> arguments,
                                                 absl::Span<const Endpoint> ends) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, body.TopologicalOrder());
  const HashSet<NodeId> needed = NeededBy(body, ends);
  HashMap<NodeId, NodeId> inlined;
  HashMap<NodeId, Endpoint> given;
  for (size_t i = 0; i < body.inputs().size(); ++i) given[body.inputs()[i].node] = arguments[i];
  const auto outside = [&](Endpoint e) -> Endpoint {
    const auto argument = given.find(e.node);
    return argument != given.end() ? argument->second : Endpoint{inlined.at(e.node), e.port};
  };
  for (NodeId inner : order) {
    if (given.contains(inner) || !needed.contains(inner)) continue;
    Node n = body.node(inner);
    for (Endpoint& e : n.inputs) e = outside(e);
    auto& controls = n.control_inputs;
    controls.erase(std::remove_if(controls.begin(), controls.end(),
                                  [&](NodeId c) { return given.contains(c); }),
                   controls.end());
    for (NodeId& c : controls) c = inlined.at(c);
    inlined[inner] = context.rw.AddNode(std::move(n));
  }
  std::vector<Endpoint> outer;
  for (const Endpoint& e : ends) outer.push_back(outside(e));
  return outer;
}

}  // namespace tenon
