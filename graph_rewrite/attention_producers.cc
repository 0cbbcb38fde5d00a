// Ops before q and k that attention can do without, or that can do without a transpose.
#include <algorithm>
#include <cmath>
#include <optional>

#include "graph_rewrite/attention.h"
#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

constexpr int kLongestPath = 4;

// The rows of `x` with the elements of `parts` equal parts of each taken in turn.
struct Interleaved {
  Endpoint x;
  size_t parts = 0;
};

// A Split of the last axis, its parts stacked after it, and reshaped: each row [a b] becomes
// a0 b0 a1 b1 ...
std::optional<Interleaved> FindInterleaved(RuleContext& context, Endpoint e) {
  const Node& reshape = context.Candidate(e);
  if (reshape.op != "Reshape") return std::nullopt;
  const Node& stack = context.Candidate(reshape.inputs[0]);
  const int64_t* axis = stack.attr<int64_t>("axis");
  if (stack.op != "Pack" || axis == nullptr) return std::nullopt;
  const NodeId split_id = stack.inputs[0].node;
  const Node& split = context.Candidate(split_id);
  if (split.op != "Split") return std::nullopt;
  const Endpoint x = split.inputs[1];
  const int rank = context.shapes.rank(x);
  if (rank < 1 || (*axis != -1 && *axis != rank) || !IsLast(context, split.inputs[0], rank)) {
    return std::nullopt;
  }
  const int64_t* parts = split.attr<int64_t>("num_split");
  if (parts == nullptr || *parts != static_cast<int64_t>(stack.inputs.size())) return std::nullopt;
  for (size_t i = 0; i < stack.inputs.size(); ++i) {
    if (stack.inputs[i] != Endpoint{split_id, static_cast<int>(i)}) return std::nullopt;
  }
  if (!context.shapes.SameShape(e, x)) return std::nullopt;
  return Interleaved{x, stack.inputs.size()};
}

// From a product's operand back to rows that are interleaved: `path` are the ops between, which
// keep the rows, the operand's producer first.
struct InterleavedPath {
  Interleaved found;
  std::vector<NodeId> path;
};

bool KeepsRows(RuleContext& context, const Node& n) {
  if (n.op != "Reshape" || n.inputs.size() != 2) return false;
  const Shape &from = context.shapes.shape(n.inputs[0]), &to = context.shapes.shape({n.id, 0});
  return from.rank() > 0 && to.rank() > 0 && from.dim(from.rank() - 1) > 0 &&
         from.dim(from.rank() - 1) == to.dim(to.rank() - 1);
}

// The input of a product with one number; -1: it is none.
int ScaledInput(RuleContext& context, const Node& n) {
  if (n.op != "Mul") return -1;
  for (int slot : {0, 1}) {
    const Tensor* t = context.Constant(n.inputs[static_cast<size_t>(1 - slot)]);
    if (t == nullptr || t->num_elements() != 1 || !IsFloating(t->dtype())) continue;
    const double value = FloatElement(*t, 0);
    if (value != 0 && std::isfinite(value) &&
        context.shapes.SameShape(n.inputs[static_cast<size_t>(slot)], {n.id, 0})) {
      return slot;
    }
  }
  return -1;
}

std::optional<InterleavedPath> FindInterleavedPath(RuleContext& context, Endpoint e) {
  InterleavedPath p;
  while (static_cast<int>(p.path.size()) <= kLongestPath) {
    if (const auto found = FindInterleaved(context, e); found.has_value()) {
      p.found = *found;
      return p;
    }
    const Node& n = context.Candidate(e);
    const int scaled = ScaledInput(context, n);
    if (e.port != 0 || (scaled < 0 && !KeepsRows(context, n))) return std::nullopt;
    p.path.push_back(n.id);
    e = n.inputs[scaled < 0 ? 0 : static_cast<size_t>(scaled)];
  }
  return std::nullopt;
}

// Lets Shape nodes that alone would keep `from` read `to`, which has the same shape.
void ReadShapeOf(RuleContext& context, Endpoint from, Endpoint to) {
  std::vector<NodeId> shapes;
  if (ReaderBesideShapes(context, from.node, shapes) == kNoNode) return;
  for (NodeId shape : shapes) context.rw.SetInputs(shape, {to});
}

// The operand again, from the rows as they were before; `scale` gets the path's.
Endpoint WithoutOrder(RuleContext& context, const InterleavedPath& p, Endpoint operand,
                      float& scale) {
  Endpoint e = p.found.x;
  Endpoint interleaved = operand;
  for (NodeId id : p.path) {
    const int scaled = ScaledInput(context, context.node(id));
    interleaved = context.node(id).inputs[scaled < 0 ? 0 : static_cast<size_t>(scaled)];
  }
  ReadShapeOf(context, interleaved, e);
  for (size_t i = p.path.size(); i-- > 0;) {
    Node copy = context.node(p.path[i]);
    if (const int scaled = ScaledInput(context, copy); scaled >= 0) {
      const Tensor* t = context.Constant(copy.inputs[static_cast<size_t>(1 - scaled)]);
      scale *= static_cast<float>(FloatElement(*t, 0));
    } else {
      copy.id = kNoNode;
      copy.inputs[0] = e;
      e = {*context.AddNode(std::move(copy)), 0};
    }
    ReadShapeOf(context, {p.path[i], 0}, e);
  }
  return e;
}

// A product of rows is the same if both are in another order.
void DropSharedOrder(RuleContext& context, AttentionForm& f) {
  LabeledInput &q = f.operands[0], &k = f.operands[1];
  // Rows are along the label that the scores lack.
  if (q.labels.empty() || q.labels.back() != k.labels.back() ||
      f.scores.find(q.labels.back()) != std::string::npos) {
    return;
  }
  const auto of_q = FindInterleavedPath(context, q.e), of_k = FindInterleavedPath(context, k.e);
  if (!of_q.has_value() || !of_k.has_value() || of_q->found.parts != of_k->found.parts) return;
  q.e = WithoutOrder(context, *of_q, q.e, f.scale);
  k.e = WithoutOrder(context, *of_k, k.e, f.scale);
}

// Whether there are fewer elements of cos or sin than of x, for which they are transposed instead.
bool IsSharedByRows(const Shape& angles, const Shape& x) {
  for (int i = 0; i + 1 < angles.rank(); ++i) {
    if (angles.dim(i) == 1 && x.dim(i) != 1) return true;
  }
  return false;
}

// The tensor with its dimensions in this order.
Endpoint AddTransposed(RuleContext& context, Endpoint e, const std::vector<int32_t>& order) {
  for (const Use& use : context.rw.uses(e.node)) {
    if (use.is_control() || !context.IsCandidate(use.reader)) continue;
    const Node& n = context.node(use.reader);
    if (n.op != "Transpose" || n.inputs[0] != e) continue;
    const std::vector<int64_t> same = ConstantIntegers(context, n.inputs[1]);
    if (std::equal(same.begin(), same.end(), order.begin(), order.end())) return {n.id, 0};
  }
  const std::string name = context.node(e).name;
  Node n;
  n.name = name + "/transposed";
  n.op = "Transpose";
  n.inputs = {e, {context.AddConst(name + "/order", Tensor::Vector<int32_t>(order)), 0}};
  n.attrs["T"] = context.shapes.dtype(e);
  n.attrs["Tperm"] = DType::kInt32;
  return {*context.AddNode(std::move(n)), 0};
}

// Lets Shape nodes that alone would keep a Transpose permute the shape of its operand.
void PermuteShapes(RuleContext& context, NodeId transpose) {
  std::vector<NodeId> shapes;
  if (ReaderBesideShapes(context, transpose, shapes) == kNoNode) return;
  for (NodeId shape : shapes) {
    const DType* type = context.node(shape).attr<DType>("out_type");
    const std::string name = context.node(shape).name;
    Node n;
    n.name = name;
    n.op = "GatherV2";
    n.attrs["Tparams"] = type == nullptr ? DType::kInt32 : *type;
    n.attrs["Tindices"] = context.shapes.dtype(context.node(transpose).inputs[1]);
    n.attrs["Taxis"] = DType::kInt32;
    n.inputs = {Endpoint(),
                context.node(transpose).inputs[1],
                {context.AddConst(name + "/axis", Tensor::Scalar<int32_t>(0)), 0}};
    Node before = context.node(shape);
    before.id = kNoNode;
    before.inputs = {context.node(transpose).inputs[0]};
    n.inputs[0] = {*context.AddNode(std::move(before)), 0};
    context.rw.ReplaceNode(shape, {*context.AddNode(std::move(n)), 0});
  }
}

// A rotary embedding of what is transposed becomes a transpose of the embedding, of which cos and
// sin are transposed instead: they are the same for all heads.
void TransposeAfterRotary(RuleContext& context, AttentionForm& f, size_t index) {
  LabeledInput& x = f.operands[index];
  const Node& rotary = context.Candidate(x.e);
  std::vector<NodeId> shapes;
  if (rotary.op != "_Rotary" || ReaderBesideShapes(context, rotary.id, shapes) == kNoNode) return;
  const Node& transpose = context.Candidate(rotary.inputs[0]);
  if (transpose.op != "Transpose") return;
  const std::vector<int64_t> order = ConstantIntegers(context, transpose.inputs[1]);
  const size_t rank = x.labels.size();
  if (order.size() != rank || rank < 2 || order.back() != static_cast<int64_t>(rank) - 1) return;
  std::vector<int32_t> inverse(rank, -1);
  for (size_t i = 0; i < rank; ++i) {
    if (order[i] < 0 || order[i] >= static_cast<int64_t>(rank)) return;
    inverse[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  if (std::find(inverse.begin(), inverse.end(), -1) != inverse.end()) return;
  const Shape& shape = context.shapes.shape(x.e);
  for (size_t i : {1, 2}) {
    const Shape& angles = context.shapes.shape(rotary.inputs[i]);
    if (angles.rank() != static_cast<int>(rank) || shape.rank() != static_cast<int>(rank) ||
        !IsSharedByRows(angles, shape)) {
      return;
    }
  }
  // Shapes of k are those before its heads are repeated.
  if (index == 0 || f.repeated.empty()) AddFreedShapes(context, x, index, f.shapes);
  PermuteShapes(context, transpose.id);
  Node moved = rotary;
  moved.id = kNoNode;
  moved.inputs[0] = context.node(moved.inputs[0]).inputs[0];
  for (size_t i : {1, 2}) moved.inputs[i] = AddTransposed(context, moved.inputs[i], inverse);
  x.e = {*context.AddNode(std::move(moved)), 0};
  std::string labels = x.labels;
  for (size_t i = 0; i < rank; ++i) labels[static_cast<size_t>(order[i])] = x.labels[i];
  x.labels = labels;
}

}  // namespace

void MoveProducers(RuleContext& context, AttentionForm& f) {
  DropSharedOrder(context, f);
  for (size_t i : {0, 1}) TransposeAfterRotary(context, f, i);
}

}  // namespace tenon
