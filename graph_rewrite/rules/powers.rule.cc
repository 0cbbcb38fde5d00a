// Powers with a constant exponent for which there is an op of its own, as TensorFlow's own graph
// optimizer replaces them.
#include "graph_rewrite/elements.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

struct Power {
  double exponent;
  const char* op;
};
// op names: each is one power.
constexpr Power kPowers[] = {{2, "Square"}, {0.5, "Sqrt"}, {-0.5, "Rsqrt"}, {-1, "Reciprocal"}};

Outcome SpecializePow(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const Tensor* exponent = context.Constant(n.inputs[1]);
  if (exponent == nullptr || exponent->shape().rank() != 0) {
    return Outcome::Skip(0, "the exponent is not a constant scalar", n.inputs[1].node);
  }
  if (!IsFloating(exponent->dtype())) return Outcome::NotMine();
  const double value = FloatElement(*exponent, 0);
  for (const Power& power : kPowers) {
    if (power.exponent != value) continue;
    const Endpoint from = n.inputs[0], constant = n.inputs[1];
    context.rw.SetOp(id, power.op);
    context.rw.SetInputs(id, {from});
    context.RemoveIfDead(constant.node);
    return Outcome::Fired();
  }
  return Outcome::Skip(1, "the exponent is not 2, 0.5, -0.5 or -1", n.inputs[1].node);
}

const RuleRegistration specialize_pow({
    .name = "SpecializePow",
    .doc = "x^2, x^0.5, x^-0.5 and x^-1 become Square, Sqrt, Rsqrt and Reciprocal",
    .phase = Phase::kFuse,
    .anchors = "Pow",
    .apply = SpecializePow,
    .last = true,  // patterns of activations and normalizations name Pow
});

}  // namespace
}  // namespace tenon
