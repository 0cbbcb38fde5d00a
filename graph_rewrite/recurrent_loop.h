// Reads a While whose body takes the items of tensor lists, one per step, computes new states from
// them, and writes results to a list: the form of recurrent layers.
#ifndef TENON_GRAPH_REWRITE_RECURRENT_LOOP_H_
#define TENON_GRAPH_REWRITE_RECURRENT_LOOP_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"
#include "graph_rewrite/expressions.h"
#include "graph_rewrite/loop_bounds.h"

namespace tenon {

struct RecurrentLoop {
  struct Variable {
    enum Role {
      kInvariant,
      kCounter,  // 0, 1, 2 …
      kResults,  // a list to which each step writes `next`
      kState,    // becomes `next` in each step
      kHistory,  // a list that gets values of every step, which a gradient takes
    } role = kInvariant;
    ExprId next = -1;
    bool every_step = false;  // kResults: an item per step; otherwise each step writes item 0
  };
  std::vector<Variable> variables;
  std::vector<LoopBound> bounds;  // it runs while the counter is below all of them
  Expressions expressions;
  std::shared_ptr<const Graph> body;  // expressions point to its constants
};

// FailedPrecondition with the reason if the loop has another form. Every node of the loop's
// functions is part of what is returned, unless there is a kHistory.
absl::StatusOr<RecurrentLoop> ReadRecurrentLoop(RuleContext& context, const Node& loop);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RECURRENT_LOOP_H_
