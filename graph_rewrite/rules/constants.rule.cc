// Folds constants by running the ops' own kernels, and shapes that are known.
#include <string>
#include <vector>

#include "env/status.h"
#include "graph_rewrite/constant_values.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/weight_only.h"

namespace tenon {
namespace {

absl::Status FoldConstants(RuleContext& context) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> candidates, context.Candidates());
  ConstantValues constants(context);
  for (NodeId id : candidates) {
    if (!context.graph().Has(id)) continue;
    const Node& n = context.node(id);
    if (context.rw.uses(id).empty() && !context.rw.IsKept(id)) continue;
    if (ExpandsSmallWeights(context, id)) continue;
    std::vector<Tensor> values = constants.Of(id);
    if (values.empty()) continue;
    context.Step("FoldConstants", n.name);
    const std::string name = n.name;
    NodeId first = kNoNode;
    for (size_t port = 0; port < values.size(); ++port) {
      const Endpoint e{id, static_cast<int>(port)};
      if (context.rw.NumReaders(e) == 0 && !context.rw.IsOutput(e)) continue;
      const NodeId c = context.AddConst(name, std::move(values[port]));
      if (first == kNoNode) first = c;
      context.rw.ReplaceAllUses(e, {c, 0});
    }
    if (first != kNoNode) {
      context.rw.ReplaceControlUses(id, first);
      context.RemoveIfDead(id);
      if (context.graph().FindNode(name) == nullptr) context.rw.Rename(first, name);
    }
    context.EndStep("FoldConstants");
  }
  return absl::OkStatus();
}

const RuleRegistration fold({
    .name = "FoldConstants",
    .doc = "ops on constants are computed, unless that would make the model much larger, as are "
           "Shape, Size and Rank of tensors whose shape is known, and single dimensions of shapes",
    .phase = Phase::kFold,
    .sweep = FoldConstants,
    .after = "ComputeInFloat",  // otherwise constants would be folded in half, and rounded
});

// What FoldConstants left for FuseWeightOnly, and that did not take.
Outcome FoldExpanded(RuleContext& context, NodeId id) {
  std::vector<Tensor> values = ConstantValues(context).Of(id);
  if (values.size() != 1) return Outcome::NotMine();
  const std::string name = context.node(id).name;
  const auto found = context.node(id).inputs;
  const std::vector<Endpoint> inputs(found.begin(), found.end());
  context.rw.ReplaceNode(id, {context.AddConst(name, std::move(values[0])), 0});
  for (const Endpoint& e : inputs) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return Outcome::Fired();
}

const RuleRegistration fold_expanded({
    .name = "FoldExpandedWeights",
    .doc = "weights are expanded ahead of time if some reader needs them as floats",
    .phase = Phase::kFuse,
    .anchors = "Cast|Sub|Mul|Reshape|Slice|ConcatV2|BitwiseAnd|RightShift",
    .apply = FoldExpanded,
    .after = "FuseWeightOnly",
    .last = true,
});

// A one-element constant of higher rank becomes a scalar if the other operand has at least that
// rank.
Outcome ScalarConstant(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.inputs.size() != 2) return Outcome::NotMine();
  for (int slot = 0; slot < 2; ++slot) {
    const Tensor* t = context.Constant(n.inputs[static_cast<size_t>(slot)]);
    if (t == nullptr || t->num_elements() != 1 || t->shape().rank() == 0) continue;
    if (context.shapes.rank(n.inputs[static_cast<size_t>(1 - slot)]) < t->shape().rank()) {
      return Outcome::Skip(1, "the other operand's rank is not known, or lower", id);
    }
    auto scalar = t->Reshaped(Shape());
    if (!scalar.ok()) continue;
    const NodeId old = n.inputs[static_cast<size_t>(slot)].node;
    const NodeId c = context.AddConst(context.node(old).name + "/scalar", *std::move(scalar));
    context.rw.SetInput(id, slot, {c, 0});
    context.RemoveIfDead(old);
    return Outcome::Fired();
  }
  return Outcome::Skip(0, "no operand is a constant of one element", id);
}

const RuleRegistration scalar({
    .name = "ScalarConstants",
    .doc = "a constant of shape [1,1,1] next to a tensor of at least that rank becomes a scalar",
    .phase = Phase::kFold,
    .anchors = "Add|AddV2|Sub|Mul|RealDiv|Maximum|Minimum|Pow|SquaredDifference",
    .apply = ScalarConstant,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
