#include "graph_rewrite/tensor_lists.h"

#include "graph_rewrite/elements.h"
#include "kernels/lists/tensor_list.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Whether every iteration makes the variable from itself, by appending, setting or removing items.
bool KeepsList(const Graph& body, size_t variable) {
  if (variable >= body.inputs().size() || variable >= body.outputs().size()) return false;
  Endpoint e = body.outputs()[variable].source;
  for (size_t i = 0; i < body.num_nodes(); ++i) {
    if (e == Endpoint{body.inputs()[variable].node, 0}) return true;
    const Node& n = body.node(e.node);
    // op names: those whose first result is their first input, changed
    const bool keeps = n.op == "Identity" || n.op == "TensorListPushBack" ||
                       n.op == "TensorListSetItem" || n.op == "TensorListPopBack";
    if (!keeps || e.port != 0) return false;
    e = n.inputs[0];
  }
  return false;
}

}  // namespace

Shape ItemShapeOfList(RuleContext& context, Endpoint list) {
  for (size_t i = 0; i < context.graph().num_nodes(); ++i) {
    const Node& n = context.node(list);
    // op names: new lists, of a stated shape
    if (n.op == "EmptyTensorList" || n.op == "TensorListReserve") {
      const Tensor* dims = context.Constant(n.inputs[0]);
      return dims == nullptr ? Shape::Unknown() : ElementShape(*dims).value_or(Shape::Unknown());
    }
    if (n.op == "TensorListFromTensor") {
      const Shape& shape = context.shapes.shape(n.inputs[0]);
      const bool known = shape.has_rank() && shape.rank() > 0;
      return known ? Shape(shape.dims().subspan(1)) : Shape::Unknown();
    }
    const auto* body = n.attr<FuncRef>("body");
    const auto function = body == nullptr ? nullptr : context.FindFunction(body->name);
    const bool loops = function != nullptr && FactsOf(n.op).control_flow == ControlFlow::kWhile;
    if (!loops || !KeepsList(*function, static_cast<size_t>(list.port))) return Shape::Unknown();
    list = n.inputs[static_cast<size_t>(list.port)];
  }
  return Shape::Unknown();
}

bool AreAllIndices(RuleContext& context, Endpoint indices, const Dimension& count) {
  const Node& n = context.node(indices);
  if (const Tensor* t = context.Constant(indices)) {
    const auto values = IntegerValues(*t);
    if (!values.ok() || count.value != static_cast<int64_t>(values->size())) return false;
    for (size_t i = 0; i < values->size(); ++i) {
      if ((*values)[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  }
  return n.op == "Range" && ScalarDimension(context, n.inputs[0]).value == 0 &&
         ScalarDimension(context, n.inputs[1]) == count &&
         ScalarDimension(context, n.inputs[2]).value == 1;
}

Endpoint TensorOfList(RuleContext& context, Endpoint list) {
  const Node& n = context.Candidate(list);
  if (n.op == "TensorListFromTensor") return n.inputs[0];
  if (n.op != "TensorListScatterIntoExistingList") return {};
  const Node& made = context.Candidate(n.inputs[0]);
  const Dimension count = DimensionOf(context, n.inputs[1], 0);
  if (made.op != "TensorListReserve" || !(ScalarDimension(context, made.inputs[1]) == count) ||
      !AreAllIndices(context, n.inputs[2], count)) {
    return {};
  }
  return n.inputs[1];
}

bool IsZeroTensor(RuleContext& context, Endpoint tensor) {
  const Node& n = context.Candidate(tensor);
  if (n.op == "ZerosLike") return true;
  const Tensor* value = context.Constant(n.op == "Fill" ? n.inputs[1] : tensor);
  return value != nullptr && IsFloating(value->dtype()) && IsFilledWith(*value, 0);
}

}  // namespace tenon
