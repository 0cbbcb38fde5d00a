#include "proto/import/functionalize.h"

#include <utility>

#include "absl/strings/match.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/import/importer.h"
#include "proto/import/references.h"

namespace tenon {

absl::Status FunctionalizeControlFlow(Draft& draft, const std::string& prefix,
                                      std::vector<FunctionalizedBody>& bodies) {
  TENON_RETURN_IF_ERROR(FunctionalizeCases(draft));
  TENON_RETURN_IF_ERROR(ReferencesToHandles(draft));
  TENON_RETURN_IF_ERROR(FunctionalizeTensorArrays(draft));
  TENON_RETURN_IF_ERROR(FunctionalizeLoops(draft, prefix, bodies));
  return FunctionalizeConds(draft, prefix, bodies);
}

void Redirect(Draft& draft, const HashMap<Endpoint, Endpoint>& forward) {
  HashMap<NodeId, NodeId> nodes;
  for (const auto& [from, to] : forward) nodes[from.node] = to.node;
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    for (NodeId& c : draft.node(id).control_inputs) {
      if (auto it = nodes.find(c); it != nodes.end()) c = it->second;
    }
  }
  for (NodeId& target : draft.targets) {
    if (auto it = nodes.find(target); it != nodes.end()) target = it->second;
  }
  draft.Forward(forward);
}

bool Uses(const Draft& draft, absl::string_view op) {
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    if (draft.node(id).op == op) return true;
  }
  return false;
}

bool IsTensorsOp(absl::string_view op) {
  return absl::StartsWith(op, "TensorArray") || op == "StackV2" || absl::StartsWith(op, "StackP");
}

DType DTypeOf(const Draft& draft, Endpoint e) {
  Node n = draft.node(e.node);
  const OpLookup op = FindOp(n.op);
  if (!op || !CompleteAttrs(*op.info, n).ok()) return DType::kInvalid;
  const absl::StatusOr<std::vector<DType>> dtypes = OutputDTypes(*op.info, n);
  if (!dtypes.ok() || static_cast<size_t>(e.port) >= dtypes->size()) return DType::kInvalid;
  return (*dtypes)[static_cast<size_t>(e.port)];
}

absl::StatusOr<Endpoint> Extraction::AddArgument(const std::string& name, DType dtype) {
  Node node;
  node.name = name;
  node.op = "Placeholder";
  node.attrs["dtype"] = DType(dtype);
  node.attrs["shape"] = Shape::Unknown();
  TENON_ASSIGN_OR_RETURN(const NodeId id, to_.Add(std::move(node), /*effect=*/false));
  to_.inputs.push_back({to_.node(id).name, id});
  return Endpoint{id, 0};
}

absl::Status Extraction::CopyOne(const Node& n) {
  Node copy = n;
  copy.control_inputs.clear();
  for (Endpoint& e : copy.inputs) {
    auto it = mapped_.find(e);
    e = it != mapped_.end() ? it->second : Endpoint{copies_[e.node], e.port};
  }
  for (NodeId c : n.control_inputs) {
    if (auto it = copies_.find(c); it != copies_.end()) copy.control_inputs.push_back(it->second);
  }
  // A Switch or Merge only serves the nodes that it feeds.
  const bool effect = HasSideEffects(n.op) && n.op != "Switch" && n.op != "Merge";
  TENON_ASSIGN_OR_RETURN(const NodeId id, to_.Add(std::move(copy), from_.effect(n.id)));
  copies_[n.id] = id;
  if (effect) to_.targets.push_back(id);
  return absl::OkStatus();
}

absl::Status Extraction::Refuse(const Node& n) {
  return Unimplemented(NodeLabel(n),
                       ": TensorFlow 1 control flow in a form that TensorFlow does not generate");
}

}  // namespace tenon
