// Fuses the gradient of a Relu or Relu6 into the batch norm gradient that alone reads it: it is
// applied during reading instead of being written to memory first.
#include <string>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

Outcome FuseReluGrad(RuleContext& context, NodeId id) {
  const Node& old = context.node(id);
  if (old.inputs.size() < 5 || old.inputs[0].port != 0) return Outcome::NotMine();
  const Node& relu = context.Candidate(old.inputs[0]);
  if (relu.op != "ReluGrad" && relu.op != "Relu6Grad") return Outcome::NotMine();
  if (!context.HasOnlyReader(relu.id, id)) return Outcome::NotMine();

  Node fused = old;
  fused.id = kNoNode;
  fused.op = "_FusedBatchNormGradEx";
  fused.name = absl::StrCat(old.name, "/fused");
  fused.attrs["U"] = DType::kFloat;
  // op names: values of the attribute.
  fused.attrs["activation_mode"] = std::string(relu.op == "ReluGrad" ? "Relu" : "Relu6");
  fused.attrs["num_side_inputs"] = int64_t{0};
  // Only the sign of y is read; the third reserve space and the offset are not read at all.
  const Endpoint scale = old.inputs[2], gradients = relu.inputs[0], features = relu.inputs[1];
  fused.inputs[0] = gradients;
  fused.inputs.resize(5);
  fused.inputs.insert(fused.inputs.end(), {scale, scale, features});
  const NodeId relu_id = relu.id;
  auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return Outcome::Skip(1, std::string(added.status().message()), id);
  for (int port = 1; port < 5; ++port) context.rw.ReplaceAllUses({id, port}, {*added, port});
  context.rw.ReplaceNode(id, {*added, 0});
  context.RemoveIfDead(relu_id);
  return Outcome::Fired();
}

const RuleRegistration batch_norm_relu_grad({
    .name = "FuseBatchNormReluGrad",
    .doc = "the gradient of a Relu or Relu6 is fused into the batch norm gradient that reads it",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "FusedBatchNormGrad|FusedBatchNormGradV2|FusedBatchNormGradV3",
    .apply = FuseReluGrad,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
