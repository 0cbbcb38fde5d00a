// Normalization by the root of the mean square over the last axis (RMSNorm),
//
//   y = x / sqrt(mean(x^2) + eps) * gamma,
//
// as Keras, KerasHub, Hugging Face's transformers (T5, Llama) and people write it.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/last_axis.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/alternatives.h"

namespace tenon {
namespace {

absl::Status FromMeanSquare(const Match& match, Replacement& replacement) {
  TENON_ASSIGN_OR_RETURN(const LastAxis axis, LastAxisOf(match, "x"));
  TENON_RETURN_IF_ERROR(IsLastAxis(*match.constant("i"), axis));
  TENON_RETURN_IF_ERROR(SetEpsilon(match, "e", axis, "y", replacement));
  return SetVector(match, "gamma", axis, 1, replacement);
}

const std::vector<std::string> kMeanSquare = {
    "%i = Const() %e = Const() %q = Square(%x) %v = Mean(%q, %i) {keep_dims=true}"
    " %w = AddV2(%v, %e) ",
    "%i = Const() %e = Const() %q = Pow(%x, 2) %v = Mean(%q, %i) {keep_dims=true}"
    " %w = AddV2(%v, %e) ",
};

// x over the root, as the node `name`.
std::vector<std::string> Quotient(const std::string& name) {
  return {
      absl::StrCat("%r = Rsqrt(%w) ", name, " = Mul(%x, %r) "),
      absl::StrCat("%r = Sqrt(%w) ", name, " = RealDiv(%x, %r) "),
      absl::StrCat("%r = Sqrt(%w) %s = Reciprocal(%r) ", name, " = Mul(%x, %s) "),
      absl::StrCat("%r = Pow(%w, -0.5) ", name, " = Mul(%x, %r) "),
  };
}

const RuleRegistration scaled_rms_norm({
    .name = "FuseRmsNormScaled",
    .doc = "x / sqrt(mean(x^2) + eps) * gamma",
    .phase = Phase::kFuse,
    .pattern = Either(Alternatives({kMeanSquare, Quotient("%n"), {"%y = Mul(%n, %gamma)"}}),
                      Alternatives({kMeanSquare,
                                    {"%r = Rsqrt(%w) %s = Mul(%r, %gamma) %y = Mul(%x, %s)"}})),
    .replacement = "%y = _RmsNorm(%x, %gamma)",
    .fold = FromMeanSquare,
});

const RuleRegistration plain({
    .name = "FuseRmsNorm",
    .doc = "x / sqrt(mean(x^2) + eps)",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kMeanSquare, Quotient("%y")}),
    .replacement = "%y = _RmsNorm(%x, %gamma)",
    .fold = FromMeanSquare,
});

}  // namespace
}  // namespace tenon
