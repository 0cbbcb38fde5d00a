#include "graph_rewrite/free_work.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {

FreeWork::FreeWork(const Graph& graph) : kinds_(static_cast<size_t>(graph.end_id()), Kind::kRuns) {
  const auto order = graph.TopologicalOrder();
  if (!order.ok()) return;
  // Whether the values are known when a plan is made.
  std::vector<bool> known(kinds_.size(), false);
  for (NodeId id : *order) {
    const size_t i = static_cast<size_t>(id);
    const Node& n = graph.node(id);
    const OpLookup op = FindOp(n.op);
    // op names: the nodes that only hold something.
    if (n.op == "Const" || n.op == "Placeholder" || n.op == "NoOp") {
      kinds_[i] = Kind::kHolds;
      known[i] = n.op == "Const";
      continue;
    }
    if (!op) continue;
    const OpRow& row = op.info->row;
    const bool from_known = std::all_of(n.inputs.begin(), n.inputs.end(), [&](Endpoint e) {
      return known[static_cast<size_t>(e.node)];
    });
    if (row.shape_only || (from_known && !row.stateful && row.reference != nullptr)) {
      kinds_[i] = Kind::kPlanning;
      known[i] = true;
    } else if (row.alias) {
      kinds_[i] = Kind::kAlias;
    }
  }
}

}  // namespace tenon
