// XlaScatter with a function that is one op: JAX gives each scatter a function of two scalars,
// which nearly always returns the update, or adds, multiplies, or takes the smaller or the larger
// one.
#include <memory>
#include <optional>
#include <string>

#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

struct CombiningOp {
  const char* op;
  const char* function;
};
// op names: those whose element is what the kernel's function gives.
constexpr CombiningOp kCombining[] = {
    {"Add", "add"}, {"AddV2", "add"},       {"LogicalOr", "add"},   {"Sub", "sub"},
    {"Mul", "mul"}, {"Minimum", "minimum"}, {"Maximum", "maximum"},
};

// The endpoint behind Identity nodes.
Endpoint Behind(const Graph& body, Endpoint e) {
  for (size_t i = 0; i < body.num_nodes(); ++i) {
    const Node& n = body.node(e.node);
    if (n.op != "Identity" || n.inputs.size() != 1) break;
    e = n.inputs[0];
  }
  return e;
}

// What the function computes from an element and its update; none if it is something else.
std::optional<std::string> FunctionOf(const Graph& body) {
  if (body.inputs().size() != 2 || body.outputs().size() != 1 || !body.targets().empty()) {
    return std::nullopt;
  }
  const NodeId element = body.inputs()[0].node, update = body.inputs()[1].node;
  const Endpoint result = Behind(body, body.outputs()[0].source);
  if (result.node == update) return "update";
  const Node& n = body.node(result.node);
  if (n.inputs.size() != 2 || !n.control_inputs.empty()) return std::nullopt;
  const NodeId a = Behind(body, n.inputs[0]).node, b = Behind(body, n.inputs[1]).node;
  const bool straight = a == element && b == update, swapped = a == update && b == element;
  for (const CombiningOp& known : kCombining) {
    if (n.op != known.op) continue;
    if (straight || (swapped && n.op != "Sub")) return known.function;
  }
  return std::nullopt;
}

Outcome ScatterWith(RuleContext& context, NodeId id) {
  const Node& scatter = context.node(id);
  const FuncRef* function = scatter.attr<FuncRef>("update_computation");
  if (function == nullptr) return Outcome::Skip(0, "it is malformed", id);
  const std::shared_ptr<const Graph> body = context.FindFunction(function->name);
  if (body == nullptr) return Outcome::Skip(0, "its function is not in the library", id);
  const std::optional<std::string> known = FunctionOf(*body);
  if (!known.has_value()) return Outcome::Skip(2, "the function is more than one op", id);

  context.rw.SetOp(id, "_XlaScatter");
  context.rw.EraseAttr(id, "update_computation");
  context.rw.SetAttr(id, "function", *known);
  return Outcome::Fired();
}

const RuleRegistration scatter_with({
    .name = "ScatterWithOp",
    .doc = "XlaScatter whose function is one op computes it without calls",
    .phase = Phase::kFold,
    .dtypes = "float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
              "complex64 complex128",
    .anchors = "XlaScatter",
    .apply = ScatterWith,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
