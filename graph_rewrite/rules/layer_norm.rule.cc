// Layer normalization over the last axis,
//
//   y = (x - m) / sqrt(v + eps) * gamma + beta,  m, v = mean and variance of x over the last axis,
//
// as Keras, tf.nn.batch_normalization and people write it. The forms without gamma or beta get
// constants of one or zero, and a following factor or addend is folded into these.
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/last_axis.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/alternatives.h"

namespace tenon {
namespace {

absl::Status FromMoments(const Match& match, Replacement& replacement) {
  TENON_ASSIGN_OR_RETURN(const LastAxis axis, LastAxisOf(match, "x"));
  TENON_RETURN_IF_ERROR(IsLastAxis(*match.constant("i"), axis));
  TENON_RETURN_IF_ERROR(IsLastAxis(*match.constant("j"), axis));
  TENON_RETURN_IF_ERROR(SetEpsilon(match, "e", axis, "y", replacement));
  TENON_RETURN_IF_ERROR(SetVector(match, "gamma", axis, 1, replacement));
  return SetVector(match, "beta", axis, 0, replacement);
}

const char kMoments[] =
    "%i = Const() %j = Const() %e = Const() %m = Mean(%x, %i) {keep_dims=true}"
    " %q = SquaredDifference(%x, %m) %v = Mean(%q, %j) {keep_dims=true} %w = AddV2(%v, %e) ";

// Keras 3 and tf.nn.batch_normalization; AddV2 of a negated product has become Sub before.
const RuleRegistration scaled({
    .name = "FuseLayerNormScaled",
    .doc = "x * s + (beta - m * s) with s = rsqrt(v + eps) * gamma",
    .phase = Phase::kFuse,
    .pattern = Alternatives({{kMoments},
                             {"%r = Rsqrt(%w) "},
                             {"%s = Mul(%r, %gamma) %a = Mul(%x, %s) %p = Mul(%m, %s) ",
                              "%a = Mul(%x, %r) %p = Mul(%m, %r) "},
                             {"%t = Sub(%beta, %p) %y = AddV2(%a, %t)", "%y = Sub(%a, %p)"}}),
    .replacement = "%y = _LayerNorm(%x, %gamma, %beta)",
    .fold = FromMoments,
});

const RuleRegistration centered({
    .name = "FuseLayerNormCentered",
    .doc = "(x - m) * rsqrt(v + eps), or divided by sqrt(v + eps)",
    .phase = Phase::kFuse,
    .pattern = Alternatives({{kMoments},
                             {"%d = Sub(%x, %m) "},
                             {
                                 "%r = Rsqrt(%w) %s = Mul(%r, %gamma) %y = Mul(%d, %s)",
                                 "%r = Rsqrt(%w) %y = Mul(%d, %r)",
                                 "%r = Sqrt(%w) %y = RealDiv(%d, %r)",
                                 "%r = Sqrt(%w) %s = Reciprocal(%r) %y = Mul(%d, %s)",
                                 "%r = Pow(%w, 0.5) %y = RealDiv(%d, %r)",
                                 "%r = Pow(%w, -0.5) %y = Mul(%d, %r)",
                             }}),
    .replacement = "%y = _LayerNorm(%x, %gamma, %beta)",
    .fold = FromMoments,
});

// Scale or offset of the batch norm: all ones or all zeros, of any length.
bool IsAll(const Match& match, absl::string_view name, double value) {
  const Node& n = match.node(name);
  const Tensor* t = match.constant(name);
  if (n.op == "Fill") t = match.context().Constant(n.inputs[1]);
  return t != nullptr && IsFilledWith(*t, value);
}

// Whether dimension `d` of the Reshape's four is `want`, by its shape or by how it is packed.
bool HasDim(const Match& match, int d, int64_t want) {
  const Shape& s = match.shape("r");
  if (s.has_rank() && s.rank() == 4 && s.dim(d) >= 0) return s.dim(d) == want;
  const Node& pack = match.node("s");
  if (pack.op != "Pack" || pack.inputs.size() != 4) return false;
  const Tensor* t = match.context().Constant(pack.inputs[static_cast<size_t>(d)]);
  if (t == nullptr || t->num_elements() != 1) return false;
  const auto values = IntegerValues(*t);
  return values.ok() && (*values)[0] == want;
}

absl::Status FromBatchNorm(const Match& match, Replacement& replacement) {
  TENON_ASSIGN_OR_RETURN(const LastAxis axis, LastAxisOf(match, "x"));
  if (!HasDim(match, 0, 1) || !HasDim(match, 2, axis.size) || !HasDim(match, 3, 1)) {
    return WhyNot("x is not reshaped to [1, rows, last axis, 1]");
  }
  if (!match.SameShape("x", "y")) return WhyNot("the result is not shaped as x");
  if (!IsAll(match, "scale", 1) || !IsAll(match, "offset", 0)) {
    return WhyNot("scale and offset are not all ones and zeros");
  }
  TENON_RETURN_IF_ERROR(SetVector(match, "gamma", axis, 1, replacement));
  return SetVector(match, "beta", axis, 0, replacement);
}

const RuleRegistration batch_norm({
    .name = "FuseLayerNormBatchNorm",
    .doc = "Keras 2's layer norm: the rows as channels of a batch norm in training mode",
    .phase = Phase::kFuse,
    .pattern = "%r = Reshape(%x, %s) %n = FusedBatchNormV3(%r, %scale, %offset, %em, %ev)"
               " {is_training=true, data_format=\"NCHW\"} %y = Reshape(%n, %t)",
    .replacement = "%y = _LayerNorm(%x, %gamma, %beta) {epsilon=@n.epsilon}",
    .fold = FromBatchNorm,
});

absl::Status FoldInto(const Match& match, Replacement& replacement, double (*gamma)(double, double),
                      double (*beta)(double, double)) {
  TENON_ASSIGN_OR_RETURN(const LastAxis axis, LastAxisOf(match, "x"));
  TENON_ASSIGN_OR_RETURN(const Tensor k, AsVector(*match.constant("k"), match.dtype("x"), axis));
  TENON_ASSIGN_OR_RETURN(Tensor g, match.constant("g")->Clone());
  TENON_ASSIGN_OR_RETURN(Tensor b, match.constant("b")->Clone());
  for (int64_t i = 0; i < axis.size; ++i) {
    const double scale = gamma(FloatElement(g, i), FloatElement(k, i));
    const double shift = beta(FloatElement(b, i), FloatElement(k, i));
    if (!std::isfinite(scale) || !std::isfinite(shift)) return WhyNot("a constant is not finite");
    SetFloatElement(g, i, scale);
    SetFloatElement(b, i, shift);
  }
  replacement.SetConst("gamma", std::move(g));
  replacement.SetConst("beta", std::move(b));
  return absl::OkStatus();
}

double Keep(double a, double) { return a; }
double Times(double a, double k) { return a * k; }
double Plus(double a, double k) { return a + k; }

absl::Status FoldScale(const Match& match, Replacement& r) {
  return FoldInto(match, r, Times, Times);
}
absl::Status FoldShift(const Match& match, Replacement& r) {
  return FoldInto(match, r, Keep, Plus);
}

const RuleRegistration fold_scale({
    .name = "FoldLayerNormScale",
    .doc = "layer norm * constant along the last axis is folded into gamma and beta",
    .phase = Phase::kFuse,
    .pattern = "%g = Const() %b = Const() %k = Const() %n = _LayerNorm(%x, %g, %b)"
               " %y = Mul(%n, %k)",
    .replacement = "%y = _LayerNorm(%x, %gamma, %beta) {epsilon=@n.epsilon}",
    .fold = FoldScale,
});

const RuleRegistration fold_shift({
    .name = "FoldLayerNormShift",
    .doc = "layer norm + constant along the last axis is folded into beta",
    .phase = Phase::kFuse,
    .pattern = "%g = Const() %b = Const() %k = Const() %n = _LayerNorm(%x, %g, %b)"
               " %y = AddV2(%n, %k)",
    .replacement = "%y = _LayerNorm(%x, %gamma, %beta) {epsilon=@n.epsilon}",
    .fold = FoldShift,
});

}  // namespace
}  // namespace tenon
