// Renames TensorFlow ops to native ops, directly from the op rows.
#include "ops/rename.h"

#include <string>

#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

Outcome Rename(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const OpLookup op = FindOp(n.op);
  if (!op || op.native) return Outcome::NotMine();
  std::string why;
  const char* native = NativeName(*op.info, n, &why);
  if (native == nullptr) return Outcome::Skip(op.info->row.native != nullptr, why, id);
  context.rw.SetOp(id, native);
  return Outcome::Fired();
}

const RuleRegistration rename({
    .name = "Rename",
    .doc = "an op with an accelerated kernel for its dtype gets its native name",
    .phase = Phase::kRename,
    .anchors = "*",
    .apply = Rename,
    .keeps_control_inputs = true,
    .after = "JoinInvertedResidual",
});

}  // namespace
}  // namespace tenon
