// Rewrites variants of squares, variances and normalizations to the one form that other rules know.
// Exact to the bit.
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status OfAMean(const Match& match) {
  if (match.node("m").op == "Mean") return absl::OkStatus();
  return WhyNot("what is subtracted is no mean");
}

// The difference often has a second reader: the normalization itself.
const RuleRegistration square({
    .name = "SquareOfDifference",
    .doc = "mean(square(x - m)), m a mean, is mean(squared_difference(x, m))",
    .phase = Phase::kClean,
    .pattern = "%d = Sub(%x, %m) %q = Square(%d) %v = Mean(%q, %i) out d = %d out v = %v",
    .replacement = "%d = Sub(%x, %m) %q = SquaredDifference(%x, %m)"
                   " %v = Mean(%q, %i) {keep_dims=@v.keep_dims} out d = %d out v = %v",
    .when = OfAMean,
});

const RuleRegistration itself({
    .name = "SquareOfItself",
    .doc = "x * x is square(x)",
    .phase = Phase::kClean,
    .pattern = "%y = Mul(%x, %x)",
    .replacement = "%y = Square(%x)",
});

const RuleRegistration negated({
    .name = "NegatedProduct",
    .doc = "-a * b + c is c - a * b",
    .phase = Phase::kClean,
    .pattern = "%n = Neg(%a) %p = Mul(%n, %b) %y = AddV2(%p, %c)",
    .replacement = "%p = Mul(%a, %b) %y = Sub(%c, %p)",
});

}  // namespace
}  // namespace tenon
