#include "graph/verify.h"

#include "env/status.h"

namespace tenon {

absl::Status VerifyGraph(const Graph& graph, const NodeCheck& check) {
  std::vector<int> num_outputs(static_cast<size_t>(graph.end_id()), -1);
  auto node = [&](NodeId id, absl::string_view what) -> absl::Status {
    return graph.Has(id) ? absl::OkStatus() : Internal(what, " is not a node of the graph");
  };
  auto endpoint = [&](Endpoint e, absl::string_view what) -> absl::Status {
    TENON_RETURN_IF_ERROR(node(e.node, what));
    const int count = num_outputs[static_cast<size_t>(e.node)];
    if (e.port < 0 || (count >= 0 && e.port >= count)) {
      return Internal(what, " is port ", e.port, " of '", graph.node(e.node).name, "' (",
                      graph.node(e.node).op, "), which has ", count, " outputs");
    }
    return absl::OkStatus();
  };

  size_t present = 0;
  for (NodeId id : graph.NodeIds()) {
    ++present;
    const Node& n = graph.node(id);
    const Node* found = graph.FindNode(n.name);
    if (found == nullptr || found->id != id) {
      return Internal("the name '", n.name, "' does not lead to its node");
    }
    if (check) {
      absl::StatusOr<int> count = check(graph, n);
      if (!count.ok()) return Annotate(count.status(), NodeLabel(n));
      num_outputs[static_cast<size_t>(id)] = *count;
    }
  }
  if (present != graph.num_nodes()) return Internal("a name leads to no node");

  for (NodeId id : graph.NodeIds()) {
    const Node& n = graph.node(id);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      TENON_RETURN_IF_ERROR(endpoint(n.inputs[i], absl::StrCat("input ", i, " of '", n.name, "'")));
    }
    for (NodeId c : n.control_inputs) {
      TENON_RETURN_IF_ERROR(node(c, absl::StrCat("a control input of '", n.name, "'")));
    }
  }
  for (const GraphInput& in : graph.inputs()) {
    TENON_RETURN_IF_ERROR(endpoint({in.node, 0}, absl::StrCat("signature input '", in.name, "'")));
  }
  for (const GraphOutput& out : graph.outputs()) {
    TENON_RETURN_IF_ERROR(endpoint(out.source, absl::StrCat("signature output '", out.name, "'")));
  }
  for (NodeId t : graph.targets()) TENON_RETURN_IF_ERROR(node(t, "a target"));
  if (auto order = graph.TopologicalOrder(); !order.ok()) return Internal(order.status().message());
  for (const auto& [name, body] : graph.functions()) {
    if (absl::Status s = VerifyGraph(*body, check); !s.ok()) {
      return Annotate(s, absl::StrCat("function '", name, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon
