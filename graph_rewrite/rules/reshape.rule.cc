// Removes reshapes and transposes that change nothing, and merges consecutive ones.
#include <algorithm>

#include "absl/types/span.h"
#include "graph_rewrite/permutation.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/forward.h"

namespace tenon {
namespace {

// Whether the node joins all dimensions but the last of `x` for products with matrices, of which
// FoldTensordot makes products of `x` itself.
bool JoinsRowsForProducts(RuleContext& context, NodeId id, Endpoint x) {
  const Shape& shape = context.shapes.shape(x);
  if (shape.rank() < 3 || context.rw.uses(id).empty()) return false;
  const int64_t last = shape.dim(shape.rank() - 1);
  if (last < 0) return false;
  const absl::Span<const Use> uses = context.rw.uses(id);
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    const Node& product = context.node(use.reader);
    if (use.slot != 0 || product.op != "MatMul") return false;
    const bool* a = product.attr<bool>("transpose_a");
    const bool* b = product.attr<bool>("transpose_b");
    const Shape& w = context.shapes.shape(product.inputs[1]);
    return a != nullptr && !*a && b != nullptr && w.rank() == 2 && w.dim(*b ? 1 : 0) == last;
  });
}

Outcome RemoveReshape(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const Endpoint x = n.inputs[0];
  if (context.shapes.SameShape(x, {id, 0})) return Forward(context, id, {x});
  const Node& inner = context.Candidate(x);
  if (inner.op != "Reshape" || x.port != 0) {
    return Outcome::Skip(0, "it changes the shape", id);
  }
  if (JoinsRowsForProducts(context, id, x)) {
    return Outcome::Skip(1, "it joins rows for a product", id);
  }
  // Of two consecutive reshapes, only the last one matters.
  const NodeId old = x.node;
  context.rw.SetInput(id, 0, inner.inputs[0]);
  context.RemoveIfDead(old);
  return Outcome::Fired();
}

const RuleRegistration reshape({
    .name = "RemoveReshape",
    .doc =
        "a Reshape to the shape that the tensor already has, or before another Reshape, is removed",
    .phase = Phase::kClean,
    .anchors = "Reshape",
    .apply = RemoveReshape,
    .keeps_control_inputs = true,
});

Outcome RemoveTranspose(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  auto perm = PermutationOf(context, n);
  if (!perm.ok()) return Outcome::Skip(0, std::string(perm.status().message()), id);
  if (std::is_sorted(perm->begin(), perm->end())) return Forward(context, id, {n.inputs[0]});
  const Endpoint x = n.inputs[0];
  const Node& inner = context.Candidate(x);
  if (inner.op != "Transpose") return Outcome::Skip(0, "it moves elements", id);
  auto first = PermutationOf(context, inner);
  if (!first.ok() || first->size() != perm->size()) {
    return Outcome::Skip(1, "the Transpose before it is not constant", id);
  }
  std::vector<int32_t> both;
  for (int64_t p : *perm) both.push_back(static_cast<int32_t>((*first)[static_cast<size_t>(p)]));
  const DType* type = n.attr<DType>("Tperm");
  Tensor value = Tensor::Vector<int32_t>(both);
  if (type != nullptr && *type == DType::kInt64) {
    value = Tensor::Vector<int64_t>(std::vector<int64_t>(both.begin(), both.end()));
  }
  const NodeId old = x.node, old_perm = n.inputs[1].node;
  const NodeId perm_node = context.AddConst(n.name + "/perm", std::move(value));
  context.rw.SetInputs(id, {context.node(old).inputs[0], {perm_node, 0}});
  context.RemoveIfDead(old);
  context.RemoveIfDead(old_perm);
  return Outcome::Fired();
}

const RuleRegistration transpose({
    .name = "RemoveTranspose",
    .doc = "a Transpose that keeps the order is removed; two in a row become one",
    .phase = Phase::kClean,
    .anchors = "Transpose",
    .apply = RemoveTranspose,
    .keeps_control_inputs = true,
});

Outcome RemovePad(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const Tensor* pads = context.Constant(n.inputs[1]);
  if (pads == nullptr) return Outcome::Skip(0, "its paddings are not constant", id);
  auto values = IntegerValues(*pads);
  if (!values.ok() ||
      std::any_of(values->begin(), values->end(), [](int64_t v) { return v != 0; })) {
    return Outcome::Skip(0, "it pads", id);
  }
  return Forward(context, id, {n.inputs[0]});
}

const RuleRegistration pad({
    .name = "RemovePad",
    .doc = "a Pad by zero elements is removed",
    .phase = Phase::kClean,
    .anchors = "Pad|PadV2|MirrorPad",
    .apply = RemovePad,
});

// TensorFlow copies images that already have the size.
Outcome RemoveResize(RuleContext& context, NodeId id) {
  const Endpoint from = context.node(id).inputs[0];
  const Shape &in = context.shapes.shape(from), &out = context.shapes.shape({id, 0});
  if (in.rank() != 4 || out.rank() != 4 || in.dim(1) < 0 || in.dim(2) < 0 ||
      in.dim(1) != out.dim(1) || in.dim(2) != out.dim(2)) {
    return Outcome::Skip(0, "it changes the size", id);
  }
  if (context.shapes.dtype(from) != context.shapes.dtype({id, 0})) {
    return Outcome::Skip(1, "it changes the dtype", id);
  }
  return Forward(context, id, {from});
}

const RuleRegistration resize({
    .name = "RemoveResize",
    .doc = "a resize to the size that the images already have is removed",
    .phase = Phase::kFold,
    .anchors = "ResizeBilinear|ResizeNearestNeighbor",
    .apply = RemoveResize,
});

}  // namespace
}  // namespace tenon
