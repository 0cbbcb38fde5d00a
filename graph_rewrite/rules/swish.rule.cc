// x * sigmoid(x). Keras writes it with an IdentityN (a custom gradient), which the clean phase
// removes, and with a factor beta of 1.
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

const RuleRegistration swish({
    .name = "FuseSwish",
    .doc = "x * sigmoid(x)",
    .phase = Phase::kFuse,
    .pattern = "%s = Sigmoid(%x) %y = Mul(%x, %s)"
               " || %b = Mul(%x, 1) %s = Sigmoid(%b) %y = Mul(%x, %s)",
    .replacement = "%y = _Swish(%x)",
});

const RuleRegistration quotient({
    .name = "FuseSwishQuotient",
    .doc = "x / (1 + exp(-x))",
    .phase = Phase::kFuse,
    .pattern = "%n = Neg(%x) %e = Exp(%n) %a = AddV2(%e, 1) %y = RealDiv(%x, %a)",
    .replacement = "%y = _Swish(%x)",
});

}  // namespace
}  // namespace tenon
