// Scaled dot-product attention as one op that never stores the scores: a product, a scale, masks or
// conditions, softmax, and another product, with the transposes and the repeated heads around them.
#include "graph_rewrite/attention.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"
#include "kernels/attention/attention.h"

namespace tenon {
namespace {

constexpr int64_t kWidest = 256;

Outcome Refused(const absl::Status& status, NodeId id) {
  return Outcome::Skip(1, std::string(status.message()), id);
}

// `softmax` is the Softmax.
Node AttentionNode(RuleContext& context, const AttentionForm& f, NodeId softmax) {
  Node made;
  made.op = "_Attention";
  made.name = context.node(f.result).name;
  made.device = context.node(softmax).device;
  for (const LabeledInput& x : f.operands) made.inputs.push_back(x.e);
  for (Endpoint e : f.masks) made.inputs.push_back(e);
  for (Endpoint e : f.conditions) made.inputs.push_back(e);
  made.attrs["T"] = context.shapes.dtype({softmax, 0});
  made.attrs["num_masks"] = static_cast<int64_t>(f.masks.size());
  made.attrs["num_conditions"] = static_cast<int64_t>(f.conditions.size());
  made.attrs["equation"] = absl::StrCat(f.operands[0].labels, ",", f.operands[1].labels, ",",
                                        f.operands[2].labels, "->", f.out);
  made.attrs["scores"] = f.scores;
  made.attrs["repeated"] = f.repeated;
  made.attrs["scale"] = f.scale;
  made.attrs["steps"] = f.steps;
  made.attrs["values"] = f.values;
  made.attrs["zero_hidden"] = f.zero_hidden;
  return made;
}

Outcome FuseAttention(RuleContext& context, NodeId id) {
  absl::StatusOr<AttentionForm> found = FindAttention(context, id);
  if (!found.ok()) return Refused(found.status(), id);
  AttentionForm& f = *found;
  AbsorbMoves(context, f);
  SplitHeads(context, f);
  AbsorbMoves(context, f);
  for (size_t i : {1, 2}) {
    if (context.Constant(f.operands[i].e) != nullptr) {
      return Outcome::Skip(3, "k or v is constant: a product with packed weights is faster", id);
    }
  }
  // Wider heads do not fit the kernel's blocks: oneDNN's products are as fast.
  for (const LabeledInput& x : f.operands) {
    const Shape& shape = context.shapes.shape(x.e);
    for (int d = 0; d < shape.rank(); ++d) {
      const char c = x.labels[static_cast<size_t>(d)];
      if (shape.dim(d) > kWidest && c > '9' && f.scores.find(c) == std::string::npos) {
        return Outcome::Skip(3, absl::StrCat("heads are wider than ", kWidest), id);
      }
    }
  }
  if (f.windows != 0 && !f.shapes.empty()) {
    return Outcome::Skip(3, "a Shape reads scores of windows", id);
  }
  // What can fail comes before the first edit.
  if (const auto spec = ParseAttention(AttrReader(AttentionNode(context, f, id))); !spec.ok()) {
    return Refused(spec.status(), id);
  }
  std::vector<int32_t> merged;
  if (f.windows != 0) {
    const absl::Status split = SplitWindows(context, f, merged);
    if (!split.ok()) return Refused(split, id);
  } else {
    MoveProducers(context, f);
    AbsorbMoves(context, f);
  }
  Node made = AttentionNode(context, f, id);
  if (const auto spec = ParseAttention(AttrReader(made)); !spec.ok()) {
    return Refused(spec.status(), id);
  }
  ReplaceShapes(context, f);
  const auto added = context.AddNode(std::move(made));
  if (!added.ok()) return Refused(added.status(), id);
  const auto old = context.node(f.result).inputs;
  Endpoint result{*added, 0};
  if (f.windows != 0) result = AddReshape(context, result, merged);
  context.rw.ReplaceNode(f.result, result);
  for (const Endpoint& e : old) context.RemoveIfDead(e.node);
  return Outcome::Fired();
}

const RuleRegistration attention({
    .name = "FuseAttention",
    .doc = "softmax(q · k * scale, masked) · v, with the transposes around it, as one op",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "Softmax",
    .apply = FuseAttention,
    .after = "FuseRotaryHalves FuseRotaryTurned",
});

}  // namespace
}  // namespace tenon
