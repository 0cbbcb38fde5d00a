#include "graph_rewrite/context.h"

#include "env/status.h"
#include "ops/op.h"

namespace tenon {

NodeId RuleContext::OnlyReader(NodeId id, std::string* why) const {
  const absl::Span<const Use> uses = rw.uses(id);
  if (uses.size() == 1 && !uses[0].is_control() && uses[0].port == 0 && !rw.IsKept(id)) {
    return uses[0].reader;
  }
  if (why != nullptr) {
    const std::string who = absl::StrCat("'", node(id).name, "' (", node(id).op, ")");
    if (rw.IsKept(id)) {
      *why = absl::StrCat(who, " is an output of the graph");
    } else if (uses.empty()) {
      *why = absl::StrCat(who, " has no reader");
    } else if (uses.size() > 1) {
      *why = absl::StrCat(who, " has ", uses.size(), " readers");
    } else {
      *why = absl::StrCat(who, " is read through a control edge or another port");
    }
  }
  return kNoNode;
}

NodeId RuleContext::AddConst(absl::string_view hint, Tensor value) {
  Node n;
  n.name = std::string(hint);
  n.op = "Const";
  n.attrs["dtype"] = value.dtype();
  n.attrs["value"] = std::move(value);
  return rw.AddNode(std::move(n));
}

absl::StatusOr<NodeId> RuleContext::AddNode(Node node) {
  const OpLookup op = FindOp(node.op);
  if (!op) return Unimplemented("op ", node.op, " is not known");
  TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));
  return rw.AddNode(std::move(node));
}

void RuleContext::RemoveIfDead(NodeId id) {
  std::vector<NodeId> todo = {id};
  while (!todo.empty()) {
    const NodeId n = todo.back();
    todo.pop_back();
    if (!rw.Has(n) || !rw.uses(n).empty() || rw.IsKept(n)) continue;
    for (const Endpoint& e : node(n).inputs) todo.push_back(e.node);
    for (NodeId c : node(n).control_inputs) todo.push_back(c);
    rw.Remove(n);
  }
}

}  // namespace tenon
