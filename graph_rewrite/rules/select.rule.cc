// Keras attention broadcasts its mask by combining it with a tensor of true values in the scores'
// shape. Select broadcasts by itself.
#include <algorithm>

#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status IsTrue(const Match& m) {
  const Tensor* t = m.constant("t");
  if (t->dtype() != DType::kBool || t->num_elements() != 1 || !t->data<bool>()[0]) {
    return WhyNot("the condition is not joined with true");
  }
  return absl::OkStatus();
}

const RuleRegistration select_mask({
    .name = "DropBroadcastTrue",
    .doc = "select(ones_like(x) & mask, x, c) is select(mask, x, c)",
    .phase = Phase::kClean,
    .pattern = "%s = Shape(%x) %t = Const() %f = Fill(%s, %t) %a = LogicalAnd(%f, %m) "
               "%y = SelectV2(%a, %x, %c) out s = %s out y = %y",
    .replacement = "%y = SelectV2(%m, %x, %c) out s = %s out y = %y",
    .when = IsTrue,
});

}  // namespace
}  // namespace tenon
