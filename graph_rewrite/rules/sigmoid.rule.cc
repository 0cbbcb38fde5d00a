// The logistic function by its definition.
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

const RuleRegistration sigmoid({
    .name = "SigmoidOfExp",
    .doc = "1 / (1 + exp(-x)) is sigmoid(x)",
    .phase = Phase::kFold,
    .pattern = "%n = Neg(%x) %e = Exp(%n) %a = AddV2(%e, 1) %y = RealDiv(1, %a)",
    .replacement = "%y = Sigmoid(%x)",
});

}  // namespace
}  // namespace tenon
