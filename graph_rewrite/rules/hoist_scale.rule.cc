// Moves a factor on the product of two computed tensors (attention scores) to an operand whose own
// weights can absorb it:  (q · k) * s = (q * s) · k,  and q * s is folded into the query's weights
// and bias.
#include "absl/strings/str_cat.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Whether `e` is a contraction with constant weights, possibly with a bias, that only `reader`
// reads.
bool TakesFactor(RuleContext& context, Endpoint e, NodeId reader) {
  for (int steps = 0; steps < 2; ++steps) {
    if (e.port != 0 || context.OnlyReader(e.node) != reader) return false;
    const Node& n = context.node(e);
    if (IsContraction(n.op)) return FactorAxes(context, n.id, Shape()).ok();
    if (n.op != "BiasAdd" && n.op != "AddV2") return false;
    const size_t slot = context.Constant(n.inputs[1]) != nullptr ? 0 : 1;
    if (context.Constant(n.inputs[1 - slot]) == nullptr) return false;
    reader = n.id;
    e = n.inputs[slot];
  }
  return false;
}

Outcome HoistScale(RuleContext& context, NodeId id) {
  const Node& mul = context.node(id);
  for (size_t slot = 0; slot < 2; ++slot) {
    const Tensor* s = context.Constant(mul.inputs[1 - slot]);
    if (s == nullptr || s->num_elements() != 1 || s->shape().rank() != 0) continue;
    // The product may conjugate the operand.
    if (IsComplex(s->dtype())) return Outcome::Skip(1, "it is complex", id);
    const Endpoint x = mul.inputs[slot];
    const Node& product = context.Candidate(x);
    if (!IsContraction(product.op) || IsFusedContraction(product.op)) continue;
    if (x.port != 0 || !context.HasOnlyReader(x.node, id)) return Outcome::NotMine();
    if (product.inputs.size() < 2 || FactorAxes(context, x.node, Shape()).ok()) continue;
    for (int operand = 0; operand < 2; ++operand) {
      const Endpoint from = product.inputs[static_cast<size_t>(operand)];
      if (!TakesFactor(context, from, x.node)) continue;
      Node scaled;
      scaled.name = mul.name;
      scaled.op = "Mul";
      scaled.device = mul.device;
      scaled.attrs = mul.attrs;
      scaled.inputs = {from, mul.inputs[1 - slot]};
      const NodeId made = context.rw.AddNode(std::move(scaled));
      context.rw.SetInput(x.node, operand, {made, 0});
      context.rw.ReplaceAllUses({id, 0}, x);
      context.rw.ReplaceControlUses(id, x.node);
      context.RemoveIfDead(id);
      return Outcome::Fired();
    }
    return Outcome::Skip(2, "neither operand of the product has constant weights to absorb it", id);
  }
  return Outcome::Skip(0, "it is not a factor on a product", id);
}

const RuleRegistration hoist({
    .name = "HoistScale",
    .doc = "a factor on the product of computed tensors moves to the operand that can absorb it",
    .phase = Phase::kFold,
    .anchors = "Mul",
    .apply = HoistScale,
});

}  // namespace
}  // namespace tenon
