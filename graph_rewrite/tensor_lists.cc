#include "graph_rewrite/tensor_lists.h"

#include "graph_rewrite/elements.h"

namespace tenon {

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
