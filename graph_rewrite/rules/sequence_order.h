// Ops that change the order of sequences: tensors [steps, batch, features] or [batch, steps, …],
// or without the last axis.
#ifndef TENON_GRAPH_REWRITE_RULES_SEQUENCE_ORDER_H_
#define TENON_GRAPH_REWRITE_RULES_SEQUENCE_ORDER_H_

#include <cstdint>
#include <vector>

#include "graph_rewrite/context.h"
#include "graph_rewrite/elements.h"

namespace tenon {

// Whether the node swaps the first two axes of a tensor of rank 2 or 3.
inline bool SwapsTimeAndBatch(RuleContext& context, const Node& n) {
  if (n.op != "Transpose") return false;
  const std::vector<int64_t> order = ConstantIntegers(context, n.inputs[1]);
  return order == std::vector<int64_t>{1, 0, 2} || order == std::vector<int64_t>{1, 0};
}
// Whether it reverses axis 0 or 1 of a tensor of that rank.
inline bool Reverses(RuleContext& context, const Node& n, int64_t axis, int64_t rank = 3) {
  if (n.op != "ReverseV2") return false;
  const std::vector<int64_t> axes = ConstantIntegers(context, n.inputs[1]);
  return axes.size() == 1 && (axes[0] == axis || axes[0] == axis - rank);
}

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULES_SEQUENCE_ORDER_H_
