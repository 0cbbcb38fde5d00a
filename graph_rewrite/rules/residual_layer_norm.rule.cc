// A residual sum that a layer norm or RMSNorm reads; its other readers get it from the second
// output.
#include "env/status.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// The op supports broadcasting, slowly; so unknown sizes may differ.
absl::Status AlikeShapes(const Match& match) {
  if (match.constant("a") == nullptr && match.constant("b") == nullptr &&
      match.context().shapes.AlikeShape(match.at("a"), match.at("b"))) {
    return absl::OkStatus();
  }
  return WhyNot("the two summands are broadcast");
}

const RuleRegistration residual({
    .name = "FuseAddLayerNorm",
    .doc = "layer norm of x + residual",
    .phase = Phase::kFuse,
    .pattern = "%s = AddV2(%a, %b) %y = _LayerNorm(%s, %gamma, %beta) out s = %s out y = %y",
    .replacement = "%n = _AddLayerNorm(%a, %b, %gamma, %beta) {epsilon=@y.epsilon}"
                   " out s = %n:1 out y = %n",
    .when = AlikeShapes,
    .after = "FoldLayerNormScale FoldLayerNormShift",  // which finish the layer norm
});

const RuleRegistration residual_rms({
    .name = "FuseAddRmsNorm",
    .doc = "RMSNorm of x + residual",
    .phase = Phase::kFuse,
    .pattern = "%s = AddV2(%a, %b) %y = _RmsNorm(%s, %gamma) out s = %s out y = %y",
    .replacement = "%n = _AddRmsNorm(%a, %b, %gamma) {epsilon=@y.epsilon}"
                   " out s = %n:1 out y = %n",
    .when = AlikeShapes,
});

}  // namespace
}  // namespace tenon
