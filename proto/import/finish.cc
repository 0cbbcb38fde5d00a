#include "proto/import/finish.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/import/functionalize.h"
#include "proto/import/text_models.h"
#include "proto/messages/attr_proto.h"

namespace tenon {
namespace {

// Private ops never come from files, but TensorFlow's own fused ops ("_FusedConv2D" ...) may.
absl::Status CheckPublic(const OpLookup& op, const Node& node) {
  const bool fused = absl::StartsWith(node.op, "_Fused");
  if (op.native || (op.info->row.internal && !fused)) {
    return InvalidArgument(NodeLabel(node), ": is a private op, which models must not contain");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> Finisher::Finish(Draft draft) {
  SimplifyTables(draft);
  TENON_RETURN_IF_ERROR(ImportBodies(draft));
  TENON_RETURN_IF_ERROR(FunctionalizeAll(draft));
  CollectChangedVariables(draft, changed_);
  CollectChangedTables(draft, changed_tables_);
  for (const FunctionalizedBody& body : bodies_) {
    CollectChangedVariables(body.draft, changed_);
    CollectChangedTables(body.draft, changed_tables_);
  }
  for (FunctionalizedBody& body : bodies_) {
    TENON_ASSIGN_OR_RETURN(Graph graph,
                           FinishBody(std::move(body.draft), absl::StrCat(body.name, "/")));
    for (NodeId id : graph.NodeIds()) {
      if (HasSideEffects(graph.node(id).op)) with_side_effects_.insert(body.name);
    }
    library_[body.name] = std::make_shared<const Graph>(std::move(graph));
  }
  TENON_ASSIGN_OR_RETURN(Graph graph, FinishBody(std::move(draft), ""));
  graph.SetFunctions(std::move(library_));
  return graph;
}

absl::Status Finisher::FunctionalizeAll(Draft& top) {
  std::vector<FunctionalizedBody> all;  // callees come before their callers
  for (FunctionalizedBody& body : bodies_) {
    TENON_RETURN_IF_ERROR(FunctionalizeControlFlow(body.draft, absl::StrCat(body.name, "/"), all));
    all.push_back(std::move(body));
  }
  TENON_RETURN_IF_ERROR(FunctionalizeControlFlow(top, "", all));
  bodies_ = std::move(all);
  return absl::OkStatus();
}

absl::StatusOr<Graph> Finisher::FinishBody(Draft draft, const std::string& where) {
  MarkStateless(draft);
  TENON_RETURN_IF_ERROR(FreezeVariables(draft, store_, changed_));
  draft.DropIdleControls(HasSideEffects);
  // Each name once. A read whose result is unused does not count.
  HashSet<NodeId> seen;
  const auto idle = [&](NodeId id) {
    return NeedsNoOrder(draft.node(id).op) || !seen.insert(id).second;
  };
  draft.targets.erase(std::remove_if(draft.targets.begin(), draft.targets.end(), idle),
                      draft.targets.end());
  TENON_RETURN_IF_ERROR(CheckNodes(draft, where));
  TENON_RETURN_IF_ERROR(EndBranches(draft));
  TENON_RETURN_IF_ERROR(FreezeTables(draft, tables_, changed_tables_));
  draft.DropIdleControls(HasSideEffects);  // a lookup in constants waits for nothing
  TENON_RETURN_IF_ERROR(FreezeTextModels(draft));
  return std::move(draft).ToGraph();
}

absl::Status Finisher::CheckNodes(Draft& draft, const std::string& where) {
  const std::vector<bool> live = draft.Live();
  std::vector<std::vector<DType>> outputs(live.size());
  std::vector<bool> known(live.size(), false);
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    Node& n = draft.node(static_cast<NodeId>(i));
    const OpLookup op = FindOp(n.op);
    if (!op) {
      missing_[n.op].push_back(where + n.name);
      continue;
    }
    TENON_RETURN_IF_ERROR(CheckPublic(op, n));
    TypeEmptyLists(*op.info, n);
    TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, n));
    TENON_ASSIGN_OR_RETURN(outputs[i], OutputDTypes(*op.info, n));
    known[i] = true;
  }
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i] || !known[i]) continue;
    const Node& n = draft.node(static_cast<NodeId>(i));
    const OpInfo& op = *FindOp(n.op).info;
    TENON_RETURN_IF_ERROR(CheckInputCount(op, n));
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> wanted, InputDTypes(op, n));
    for (size_t k = 0; k < wanted.size(); ++k) {
      const Endpoint e = n.inputs[k];
      const size_t source = static_cast<size_t>(e.node);
      if (!known[source]) continue;
      if (static_cast<size_t>(e.port) >= outputs[source].size()) {
        return InvalidArgument(NodeLabel(n), ": input ", k, ": ", NodeLabel(draft.node(e.node)),
                               " has no output ", e.port);
      }
      const DType got = outputs[source][static_cast<size_t>(e.port)];
      if (got != wanted[k]) {
        return InvalidArgument(NodeLabel(n), ": input ", k, " must be ", Name(wanted[k]), ", but ",
                               NodeLabel(draft.node(e.node)), " gives ", Name(got));
      }
    }
  }
  for (const GraphOutput& output : draft.outputs) {
    const size_t source = static_cast<size_t>(output.source.node);
    if (known[source] && static_cast<size_t>(output.source.port) >= outputs[source].size()) {
      return InvalidArgument("output '", output.name,
                             "': ", NodeLabel(draft.node(output.source.node)), " has no output ",
                             output.source.port);
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon
