// A Tile that only repeats elements (the gradient of a mean, of a bias, of any broadcast tensor)
// before elementwise ops: these broadcast by themselves, so they read the tensor without
// repetition.
//
//   x + Tile(s)    = x + s                 x has the shape of Tile(s)
//   AddN(x, Tile(s), y) = (x + s) + y
// Tile(s) * c    = Tile(s * c)           c is a scalar
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The Tile's shape if each dimension that it repeats was 1; otherwise an unknown rank.
Shape Repeated(RuleContext& context, const Node& tile) {
  const Tensor* multiples = context.Constant(tile.inputs[1]);
  const Shape& small = context.shapes.shape(tile.inputs[0]);
  if (multiples == nullptr || !small.IsComplete()) return Shape::Unknown();
  const auto times = IntegerValues(*multiples);
  if (!times.ok() || static_cast<int>(times->size()) != small.rank()) return Shape::Unknown();
  Shape shape;
  for (int i = 0; i < small.rank(); ++i) {
    const int64_t t = (*times)[static_cast<size_t>(i)];
    if (t < 1 || (t > 1 && small.dim(i) != 1)) return Shape::Unknown();
    shape.push_back(small.dim(i) * t);
  }
  return shape;
}

bool Broadcasts(const Node& n) {
  const OpLookup op = FindOp(n.op);
  return op && IsBroadcastBinary(*op.info);
}

bool IsNumber(RuleContext& context, Endpoint e, int rank) {
  const Shape& shape = context.shapes.shape(e);
  return shape.IsComplete() && shape.rank() <= rank && shape.num_elements() == 1;
}

// Turns AddN into sums of two, in the same order; `slot` reads `small`.
void SumByTwos(RuleContext& context, NodeId id, int slot, Endpoint small) {
  const Node sum = context.node(id);
  std::vector<Endpoint> inputs(sum.inputs.begin(), sum.inputs.end());
  inputs[static_cast<size_t>(slot)] = small;
  Endpoint total = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    Node add;
    add.name = i + 1 < inputs.size() ? absl::StrCat(sum.name, "/", i) : sum.name;
    add.op = "AddV2";
    add.device = sum.device;
    add.attrs["T"] = *sum.attr<DType>("T");
    add.inputs = {total, inputs[i]};
    total = {context.rw.AddNode(std::move(add)), 0};
  }
  context.rw.ReplaceNode(id, total);
}

// Whether another operand of the reader has the full shape.
bool HasWhole(RuleContext& context, const Node& reader, int slot, const Shape& shape) {
  for (size_t i = 0; i < reader.inputs.size(); ++i) {
    if (static_cast<int>(i) != slot && context.shapes.shape(reader.inputs[i]) == shape) return true;
  }
  return false;
}

// Rewrites one reader; false if it needs the full tensor.
bool Rewire(RuleContext& context, NodeId tile, const Use& use, const Shape& shape) {
  const Node& reader = context.Candidate(use.reader);
  const Node& whole = context.node(tile);
  const Endpoint small = whole.inputs[0];
  const bool sum = reader.op == "AddN" && context.shapes.dtype({tile, 0}) == DType::kFloat;
  if (use.is_control() || (!sum && !Broadcasts(reader))) return false;
  if (HasWhole(context, reader, use.slot, shape)) {
    if (sum) {
      SumByTwos(context, use.reader, use.slot, small);
    } else {
      context.rw.SetInput(use.reader, use.slot, small);
    }
    return true;
  }
  if (sum || !IsNumber(context, reader.inputs[static_cast<size_t>(1 - use.slot)], shape.rank())) {
    return false;
  }
  Node op = reader;
  op.name = absl::StrCat(reader.name, "/once");
  op.inputs[static_cast<size_t>(use.slot)] = small;
  Node repeat = whole;
  repeat.name = reader.name;
  repeat.inputs[0] = {context.rw.AddNode(std::move(op)), 0};
  const NodeId made = context.rw.AddNode(std::move(repeat));
  context.rw.ReplaceNode(use.reader, {made, 0});
  return true;
}

Outcome BroadcastTile(RuleContext& context, NodeId id) {
  const Shape shape = Repeated(context, context.node(id));
  if (!shape.has_rank()) return Outcome::Skip(0, "it is not known to repeat single elements", id);
  const std::vector<Use> uses(context.rw.uses(id).begin(), context.rw.uses(id).end());
  bool fired = false;
  for (const Use& use : uses) {
    // A reader that reads it twice may have been removed.
    if (context.rw.Has(use.reader)) fired = Rewire(context, id, use, shape) || fired;
  }
  if (!fired) return Outcome::Skip(1, "its readers need all of it", id);
  context.RemoveIfDead(id);
  return Outcome::Fired();
}

const RuleRegistration tile({
    .name = "BroadcastTile",
    .doc = "a Tile of single elements before elementwise ops, which broadcast by themselves, is "
           "removed",
    .phase = Phase::kFold,
    .anchors = "Tile",
    .apply = BroadcastTile,
    .after = "FoldAffine",  // which leaves fewer ops for the Tile to move past
});

}  // namespace
}  // namespace tenon
