// Merges nodes that compute the same function of the same inputs.
#include <algorithm>
#include <vector>

#include "absl/hash/hash.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

using Inputs = absl::InlinedVector<Endpoint, 4>;

Inputs OrderedInputs(const Node& n, const OpRow& row) {
  Inputs inputs = n.inputs;
  if (row.commutative && inputs.size() == 2) {
    if (std::tie(inputs[1].node, inputs[1].port) < std::tie(inputs[0].node, inputs[0].port)) {
      std::swap(inputs[0], inputs[1]);
    }
  }
  return inputs;
}

size_t Hash(const Node& n, const Inputs& inputs) {
  size_t h = absl::HashOf(n.op, n.attrs.size());
  for (const Endpoint& e : inputs) h = absl::HashOf(h, e);
  if (const Tensor* t = n.attr<Tensor>("value")) {
    h = absl::HashOf(h, t->shape(), static_cast<int>(t->dtype()));
    if (t->dtype() != DType::kString && t->bytes() > 0) {
      h = absl::HashOf(h, absl::string_view(t->data<char>(), std::min<size_t>(t->bytes(), 64)));
    }
  }
  return h;
}

bool Same(const Node& a, const Node& b, const Inputs& ia, const Inputs& ib) {
  return a.op == b.op && ia == ib && a.device == b.device &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end());
}

absl::Status MergeCommon(RuleContext& context) {
  const Graph& g = context.graph();
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> candidates, context.Candidates());
  HashMap<size_t, std::vector<NodeId>> seen;
  for (NodeId id : candidates) {
    const Node& n = g.node(id);
    const OpLookup op = FindOp(n.op);
    if (!op || op.info->row.stateful || n.op == "Placeholder") continue;
    const Inputs inputs = OrderedInputs(n, op.info->row);
    std::vector<NodeId>& same_hash = seen[Hash(n, inputs)];
    NodeId first = kNoNode;
    for (NodeId other : same_hash) {
      const Node& o = g.node(other);
      if (Same(n, o, inputs, OrderedInputs(o, op.info->row))) first = other;
    }
    if (first == kNoNode) {
      same_hash.push_back(id);
      continue;
    }
    auto outputs = OutputDTypes(*op.info, n);
    if (!outputs.ok() ||
        std::find(g.targets().begin(), g.targets().end(), id) != g.targets().end()) {
      continue;
    }
    context.Step("MergeCommon", n.name);
    for (size_t port = 0; port < outputs->size(); ++port) {
      context.rw.ReplaceAllUses({id, static_cast<int>(port)}, {first, static_cast<int>(port)});
    }
    context.rw.ReplaceControlUses(id, first);
    if (context.rw.uses(id).empty() && !context.rw.IsKept(id)) context.rw.Remove(id);
    context.EndStep("MergeCommon");
  }
  return absl::OkStatus();
}

const RuleRegistration common({
    .name = "MergeCommon",
    .doc = "nodes that compute the same function of the same inputs become one",
    .phase = Phase::kClean,
    .sweep = MergeCommon,
});

}  // namespace
}  // namespace tenon
