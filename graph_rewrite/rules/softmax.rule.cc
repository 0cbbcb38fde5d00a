// Fuses softmax with the ops before it in attention: a scale, an additive mask, or a condition.
#include "env/status.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/alternatives.h"

namespace tenon {
namespace {

// The scalar with that name.
absl::StatusOr<float> Scalar(const Match& match, absl::string_view name) {
  const Tensor& t = *match.constant(name);
  if (t.shape().rank() != 0) {
    return WhyNot(absl::StrCat("%", name, " is no scalar"));
  }
  return static_cast<float>(FloatElement(t, 0));
}

// %k multiplies, %l divides, %f is the value where the condition is false.
absl::Status Fill(const Match& match, Replacement& replacement) {
  if (match.has("k")) {
    TENON_ASSIGN_OR_RETURN(const float scale, Scalar(match, "k"));
    replacement.SetAttr("y", "scale", scale);
  }
  if (match.has("l")) {
    TENON_ASSIGN_OR_RETURN(const float divisor, Scalar(match, "l"));
    replacement.SetAttr("y", "scale", 1 / divisor);
  }
  if (match.has("f")) {
    TENON_ASSIGN_OR_RETURN(const float masked, Scalar(match, "f"));
    replacement.SetAttr("y", "masked", masked);
  }
  return absl::OkStatus();
}

// Attention takes the scale and the masks along.
constexpr char kAfterAttention[] = "FuseAttention";

const std::vector<std::string> kScale = {
    "%k = Const() %s = Mul(%x, %k) ",
    "%l = Const() %s = RealDiv(%x, %l) ",
};

const RuleRegistration scaled_softmax({
    .name = "FuseScaledSoftmax",
    .doc = "softmax(x * scale)",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kScale, {"%y = Softmax(%s)"}}),
    .replacement = "%y = _FusedSoftmax(%x) {num_masks=0, num_conditions=0}",
    .fold = Fill,
    .after = kAfterAttention,
});

const RuleRegistration masked({
    .name = "FuseMaskedSoftmax",
    .doc = "softmax(x * scale + mask)",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kScale, {"%t = AddV2(%s, %mask) %y = Softmax(%t)"}}),
    .replacement = "%y = _FusedSoftmax(%x, %mask) {num_masks=1, num_conditions=0}",
    .fold = Fill,
    .after = kAfterAttention,
});

const RuleRegistration added({
    .name = "FuseSoftmaxOfSum",
    .doc = "softmax(x + mask)",
    .phase = Phase::kFuse,
    .pattern = "%t = AddV2(%x, %mask) %y = Softmax(%t)",
    .replacement = "%y = _FusedSoftmax(%x, %mask) {num_masks=1, num_conditions=0}",
    .after = kAfterAttention,
});

// Keras 3 uses the smallest number for masked elements. It is finite, so a row that is masked
// entirely stays uniform; and masked elements may be NaN, so a sum would be wrong.
const RuleRegistration selected({
    .name = "FuseConditionalSoftmax",
    .doc = "softmax(select(condition, x * scale, constant))",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kScale,
                             {"%f = Const() %t = SelectV2(%condition, %s, %f) %y = Softmax(%t)"}}),
    .replacement = "%y = _FusedSoftmax(%x, %condition) {num_masks=0, num_conditions=1}",
    .fold = Fill,
    .after = kAfterAttention,
});

const RuleRegistration selected_unscaled({
    .name = "FuseUnscaledConditionalSoftmax",
    .doc = "softmax(select(condition, x, constant))",
    .phase = Phase::kFuse,
    .pattern = "%f = Const() %t = SelectV2(%condition, %x, %f) %y = Softmax(%t)",
    .replacement = "%y = _FusedSoftmax(%x, %condition) {num_masks=0, num_conditions=1}",
    .fold = Fill,
    .after = kAfterAttention,
});

}  // namespace
}  // namespace tenon
