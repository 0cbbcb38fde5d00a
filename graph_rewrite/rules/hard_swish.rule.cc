// x * relu6(x + 3) / 6, in the orders in which models write it.
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/alternatives.h"

namespace tenon {
namespace {

const RuleRegistration hard_swish({
    .name = "FuseHardSwish",
    .doc = "x * relu6(x + 3) / 6",
    .phase = Phase::kFuse,
    .pattern = Alternatives({{"%a = AddV2(%x, 3) %r = Relu6(%a) "},
                             {
                                 "%m = Mul(%x, %r) %y = Mul(%m, 0.16666667)",
                                 "%m = Mul(%x, %r) %y = RealDiv(%m, 6)",
                                 "%m = Mul(%r, 0.16666667) %y = Mul(%x, %m)",
                                 "%m = RealDiv(%r, 6) %y = Mul(%x, %m)",
                                 "%m = Mul(%x, 0.16666667) %y = Mul(%m, %r)",
                                 "%m = RealDiv(%x, 6) %y = Mul(%m, %r)",
                                 // Keras' Rescaling adds its offset of zero.
                                 "%m = Mul(%r, 0.16666667) %z = AddV2(%m, 0) %y = Mul(%x, %z)",
                             }}),
    .replacement = "%y = _HardSwish(%x)",
});

}  // namespace
}  // namespace tenon
