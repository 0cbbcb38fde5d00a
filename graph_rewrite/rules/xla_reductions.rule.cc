// XLA's reductions by a function that is one of TensorFlow's: a sum, a product, a minimum, a
// maximum, and, or.
#include <limits>
#include <vector>

#include "graph_rewrite/elements.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

struct Reduction {
  const char* function;  // of two elements
  const char* reduction;
  double neutral;  // 1 and 0 stand for true and false
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// op names: each pair is a fact about two ops, and no row knows the other.
constexpr Reduction kReductions[] = {
    {"AddV2", "Sum", 0},
    {"Add", "Sum", 0},
    {"Mul", "Prod", 1},
    {"Minimum", "Min", kInfinity},
    {"Maximum", "Max", -kInfinity},
    {"LogicalAnd", "All", 1},
    {"LogicalOr", "Any", 0},
};

// The node behind Identity nodes.
const Node& Behind(const Graph& graph, Endpoint e) {
  const Node* n = &graph.node(e.node);
  while (n->op == "Identity" && n->inputs.size() == 1) n = &graph.node(n->inputs[0].node);
  return *n;
}

// The reduction if the function is one op on its two arguments; otherwise null.
const Reduction* ReductionOf(const Graph& body) {
  if (body.inputs().size() != 2 || body.outputs().size() != 1) return nullptr;
  const Node& op = Behind(body, body.outputs()[0].source);
  if (op.inputs.size() != 2) return nullptr;
  const NodeId a = Behind(body, op.inputs[0]).id, b = Behind(body, op.inputs[1]).id;
  const NodeId x = body.inputs()[0].node, y = body.inputs()[1].node;
  if (!(a == x && b == y) && !(a == y && b == x)) return nullptr;
  for (const Reduction& r : kReductions) {
    if (op.op == r.function) return &r;
  }
  return nullptr;
}

bool IsNeutral(const Tensor* t, double neutral) {
  if (t == nullptr || t->num_elements() != 1) return false;
  if (t->dtype() == DType::kBool) return *t->data<bool>() == (neutral != 0);
  return IsFloating(t->dtype()) && FloatElement(*t, 0) == neutral;
}

Outcome ReduceOfXla(RuleContext& context, NodeId id) {
  const Node n = context.node(id);
  const FuncRef* reducer = n.attr<FuncRef>("reducer");
  const auto* dims = n.attr<std::vector<int64_t>>("dimensions_to_reduce");
  if (reducer == nullptr || dims == nullptr) return Outcome::NotMine();
  if (n.inputs.size() != 2) return Outcome::Skip(0, "it reduces several tensors together", id);
  if (dims->empty()) return Outcome::Skip(0, "it reduces no dimension", id);
  const auto found = context.graph().functions().find(reducer->name);
  if (found == context.graph().functions().end()) {
    return Outcome::Skip(0, "its function is not in this graph", id);
  }
  const Reduction* r = ReductionOf(*found->second);
  if (r == nullptr) return Outcome::Skip(1, "its function is none of TensorFlow's reductions", id);
  const DType dtype = context.shapes.dtype(n.inputs[0]);

  Node reduce;
  reduce.name = n.name;
  reduce.op = r->reduction;
  reduce.device = n.device;
  reduce.inputs = {n.inputs[0],
                   {context.AddConst(n.name + "/dimensions", Tensor::Vector<int64_t>(*dims)), 0}};
  if (dtype != DType::kBool) reduce.attrs["T"] = AttrValue(dtype);
  reduce.attrs["Tidx"] = AttrValue(DType::kInt64);
  reduce.attrs["keep_dims"] = AttrValue(false);
  Endpoint out{context.rw.AddNode(std::move(reduce)), 0};
  if (!IsNeutral(context.Constant(n.inputs[1]), r->neutral)) {
    Node with;
    with.name = n.name;
    with.op = r->function;
    with.inputs = {n.inputs[1], out};
    if (dtype != DType::kBool) with.attrs["T"] = AttrValue(dtype);
    out = {context.rw.AddNode(std::move(with)), 0};
  }
  context.rw.ReplaceNode(id, out);
  return Outcome::Fired();
}

const RuleRegistration reduce({
    .name = "ReduceOfXla",
    .doc = "XlaReduce and its variadic forms by a sum, product, minimum, maximum, and, or become "
           "that reduction",
    .phase = Phase::kClean,
    .anchors = "XlaReduce|XlaVariadicReduce|XlaVariadicReduceV2",
    .apply = ReduceOfXla,
});

}  // namespace
}  // namespace tenon
