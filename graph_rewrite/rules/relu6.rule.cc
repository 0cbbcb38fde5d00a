// min(max(x, 0), 6), as clip functions write it.
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

const RuleRegistration relu6({
    .name = "FuseRelu6",
    .doc = "min(max(x, 0), 6) in either order is relu6(x)",
    .phase = Phase::kFold,
    .pattern = "%a = Maximum(%x, 0) %y = Minimum(%a, 6)"
               " || %a = Minimum(%x, 6) %y = Maximum(%a, 0)"
               " || %a = Relu(%x) %y = Minimum(%a, 6)",
    .replacement = "%y = Relu6(%x)",
});

}  // namespace
}  // namespace tenon
