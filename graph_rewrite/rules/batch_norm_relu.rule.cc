// Fuses a batch norm that was not folded into weights (in training, or with statistics that are not
// constant), the residual sum, and the Relu or Relu6 after it: one pass over memory instead of
// three.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

struct Parts {
  NodeId batch_norm = kNoNode;
  NodeId sum = kNoNode;       // or none
  Endpoint side{kNoNode, 0};  // the other summand
};

// op names: the pattern of this rule.
bool IsBatchNorm(const Node& n) {
  return n.op == "FusedBatchNorm" || n.op == "FusedBatchNormV2" || n.op == "FusedBatchNormV3";
}

// Why the batch norm at `e` cannot be fused into its only reader; empty if it can.
std::string Obstacle(RuleContext& context, Endpoint e) {
  if (e.port != 0) return "it is not the normalized tensor";
  if (context.rw.NumReaders(e) != 1) return "others read the normalized tensor";
  if (context.rw.IsOutput(e)) return "the normalized tensor is an output";
  return "";
}

// The producer of the Relu's input. `why` stays empty if it is not a batch norm (whose control
// inputs the fused op takes over).
Parts PartsOf(RuleContext& context, Endpoint input, std::string* why) {
  Parts parts;
  if (IsBatchNorm(context.node(input))) {
    *why = Obstacle(context, input);
    parts.batch_norm = input.node;
    return parts;
  }
  const Node& n = context.Candidate(input);
  if (n.op != "AddV2" && n.op != "Add") return parts;
  for (size_t i : {0u, 1u}) {
    const Endpoint x = n.inputs[i], side = n.inputs[1 - i];
    if (!IsBatchNorm(context.node(x))) continue;
    parts = {x.node, input.node, side};
    *why = Obstacle(context, x);
    if (why->empty() && context.OnlyReader(input.node) == kNoNode) *why = "others read the sum";
    if (why->empty() && !context.shapes.SameShape(x, side)) *why = "the sum may broadcast";
    if (why->empty() && context.rw.DependsOn(side.node, x.node)) {
      *why = "the other summand depends on the batch norm";
    }
    if (why->empty()) return parts;
  }
  return parts;
}

Outcome FuseBatchNormRelu(RuleContext& context, NodeId id) {
  const Node& relu = context.node(id);
  if (relu.inputs.empty()) return Outcome::NotMine();
  std::string why;
  const Parts parts = PartsOf(context, relu.inputs[0], &why);
  if (parts.batch_norm == kNoNode) return Outcome::NotMine();
  if (!why.empty()) return Outcome::Skip(1, why, parts.batch_norm);

  const Node& old = context.node(parts.batch_norm);
  Node fused = old;
  fused.id = kNoNode;
  fused.op = "_FusedBatchNormEx";
  fused.name = absl::StrCat(old.name, "/fused");
  fused.attrs["U"] = DType::kFloat;
  fused.attrs["activation_mode"] = relu.op;
  fused.attrs["num_side_inputs"] = int64_t{parts.sum == kNoNode ? 0 : 1};
  if (parts.sum != kNoNode) fused.inputs.push_back(parts.side);
  auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return Outcome::Skip(1, std::string(added.status().message()), id);
  for (int port = 1; port < 6; ++port) {
    context.rw.ReplaceAllUses({parts.batch_norm, port}, {*added, port});
  }
  context.rw.ReplaceControlUses(parts.batch_norm, *added);
  context.rw.ReplaceNode(id, {*added, 0});
  if (parts.sum != kNoNode) context.RemoveIfDead(parts.sum);
  if (context.rw.Has(parts.batch_norm)) context.RemoveIfDead(parts.batch_norm);
  return Outcome::Fired();
}

const RuleRegistration batch_norm_relu({
    .name = "FuseBatchNormRelu",
    .doc = "batch norm [+ residual] + Relu or Relu6, if the batch norm was not folded into weights",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "Relu|Relu6",
    .apply = FuseBatchNormRelu,
});

}  // namespace
}  // namespace tenon
