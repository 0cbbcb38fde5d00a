// Standard op to private op, straight from the op rows.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The first type attribute among the inputs, or of the row.
DType MainDType(const OpInfo& op, const Node& n) {
  for (const AttrSpec& attr : op.signature.attrs) {
    if (attr.kind != "type") continue;
    const DType* dtype = n.attr<DType>(attr.name);
    return dtype == nullptr ? DType::kInvalid : *dtype;
  }
  return DType::kInvalid;
}

Outcome Rename(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const OpLookup op = FindOp(n.op);
  if (!op || op.native) return Outcome::NotMine();
  const OpRow& row = op.info->row;
  if (row.native == nullptr || row.accelerated == nullptr) {
    return Outcome::Skip(0, absl::StrCat(n.op, " has no accelerated kernel"), id);
  }
  const DType dtype = MainDType(*op.info, n);
  const std::vector<absl::string_view> types = absl::StrSplit(row.native_types, ' ');
  if (std::find(types.begin(), types.end(), Name(dtype)) == types.end()) {
    return Outcome::Skip(
        1, absl::StrCat("the accelerated kernel of ", n.op, " does not take ", Name(dtype)), id);
  }
  context.rw.SetOp(id, row.native);
  return Outcome::Fired();
}

const RuleRegistration rename({
    .name = "Rename",
    .doc = "an op with an accelerated kernel for its dtype gets its private name",
    .phase = Phase::kRename,
    .anchors = "*",
    .apply = Rename,
});

}  // namespace
}  // namespace tenon
