// What planning knows of the tensors in lists: ops pass lists by value, and each result's state
// follows from those of its inputs.
#ifndef TENON_RUNTIME_PLAN_LIST_ITEMS_H_
#define TENON_RUNTIME_PLAN_LIST_ITEMS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "runtime/execution/handle_items.h"
#include "runtime/plan/plan_steps.h"

namespace tenon {

// Of the list that is the node's output 0. Of other nodes, a state that knows nothing.
ItemState ListItemsOf(const Node& node, absl::Span<PlanValue* const> inputs);

// The shape of `count` tensors of this shape, stacked; -1: it is not known how many.
Shape StackOf(int64_t count, const Shape& item);
// The shape of all tensors of a list, stacked: `stated` (the op's), with what the items tell.
Shape StackedShape(const ItemState& items, const Shape& stated);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_LIST_ITEMS_H_
