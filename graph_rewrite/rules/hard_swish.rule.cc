// x * relu6(x + 3) / 6, in the orders in which it is written. (A division by 6 is a
// product by then.)
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

const RuleRegistration last({
    .name = "FuseHardSwish",
    .doc = "x * relu6(x + 3) * (1/6)",
    .phase = Phase::kFuse,
    .pattern = "%a = Add|AddV2(%x, 3) %r = Relu6(%a) %m = Mul(%x, %r) %y = Mul(%m, 0.16666667)",
    .replacement = "%y = _HardSwish(%x)",
});

const RuleRegistration inner({
    .name = "FuseHardSwishScaledGate",
    .doc = "x * (relu6(x + 3) * (1/6))",
    .phase = Phase::kFuse,
    .pattern = "%a = Add|AddV2(%x, 3) %r = Relu6(%a) %m = Mul(%r, 0.16666667) %y = Mul(%x, %m)",
    .replacement = "%y = _HardSwish(%x)",
});

const RuleRegistration first({
    .name = "FuseHardSwishScaledInput",
    .doc = "(x * (1/6)) * relu6(x + 3)",
    .phase = Phase::kFuse,
    .pattern = "%a = Add|AddV2(%x, 3) %r = Relu6(%a) %m = Mul(%x, 0.16666667) %y = Mul(%m, %r)",
    .replacement = "%y = _HardSwish(%x)",
});

}  // namespace
}  // namespace tenon
