// x * tanh(softplus(x)).
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/alternatives.h"

namespace tenon {
namespace {

const RuleRegistration mish({
    .name = "FuseMish",
    .doc = "x * tanh(softplus(x))",
    .phase = Phase::kFuse,
    .pattern = Alternatives({{
                                 "%s = Softplus(%x) ",
                                 "%e = Exp(%x) %s = Log1p(%e) ",
                                 "%e = Exp(%x) %a = AddV2(%e, 1) %s = Log(%a) ",
                             },
                             {"%t = Tanh(%s) %y = Mul(%x, %t)"}}),
    .replacement = "%y = _Mish(%x)",
});

}  // namespace
}  // namespace tenon
