// |-x| = |x|, for every value, NaN and infinities included.
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

const RuleRegistration abs_of_negated({
    .name = "AbsOfNegated",
    .doc = "|-x| is |x|",
    .phase = Phase::kFuse,
    .pattern = "%n = Neg(%x)  %y = Abs(%n)",
    .replacement = "%y = Abs(%x)",
});

}  // namespace
}  // namespace tenon
