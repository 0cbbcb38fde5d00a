// Powers with a constant exponent for which there is an op of its own, as TensorFlow's own graph
// optimizer replaces them.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
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

Outcome Cube(RuleContext& context, NodeId id) {
  const Endpoint from = context.node(id).inputs[0], constant = context.node(id).inputs[1];
  Node square;
  square.name = absl::StrCat(context.node(id).name, "/square");
  square.op = "Square";
  square.device = context.node(id).device;
  square.inputs = {from};
  square.attrs["T"] = context.node(id).attrs.at("T");
  const auto added = context.AddNode(std::move(square));
  if (!added.ok()) return Outcome::Skip(1, std::string(added.status().message()), id);
  context.rw.SetOp(id, "Mul");
  context.rw.SetInputs(id, {from, {*added, 0}});
  context.RemoveIfDead(constant.node);
  return Outcome::Fired();
}

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
  if (value == 3) return Cube(context, id);
  return Outcome::Skip(1, "the exponent is not 3, 2, 0.5, -0.5 or -1", n.inputs[1].node);
}

const RuleRegistration specialize_pow({
    .name = "SpecializePow",
    .doc = "x^2, x^0.5, x^-0.5 and x^-1 become Square, Sqrt, Rsqrt and Reciprocal, and x^3 becomes "
           "x * x^2",
    .phase = Phase::kFuse,
    .anchors = "Pow",
    .apply = SpecializePow,
    .last = true,  // patterns of activations and normalizations name Pow
});

}  // namespace
}  // namespace tenon
