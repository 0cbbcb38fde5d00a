// x * sigmoid(x). Keras writes it with an IdentityN (a custom gradient), which the clean phase
// drops.
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

const RuleRegistration swish({
    .name = "FuseSwish",
    .doc = "x * sigmoid(x)",
    .phase = Phase::kFuse,
    .pattern = "%s = Sigmoid(%x) %y = Mul(%x, %s)",
    .replacement = "%y = _Swish(%x)",
});

}  // namespace
}  // namespace tenon
