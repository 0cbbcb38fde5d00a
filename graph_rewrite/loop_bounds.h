// How often a loop runs: its condition compares counters of its steps with bounds.
#ifndef TENON_GRAPH_REWRITE_LOOP_BOUNDS_H_
#define TENON_GRAPH_REWRITE_LOOP_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

struct LoopBound {
  Endpoint outer;      // in the graph of the loop, or
  int64_t value = -1;  // a constant
};

// Whether the variable is 0, 1, 2 … in the loop's iterations.
bool CountsSteps(RuleContext& context, const Node& loop, const Graph& body, size_t variable);

// The loop runs while its counters are below all of them. FailedPrecondition with the reason if its
// condition has another form, or computes more. The functions take as many arguments as the loop.
absl::StatusOr<std::vector<LoopBound>> ReadLoopBounds(RuleContext& context, const Node& loop,
                                                      const Graph& cond, const Graph& body);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_LOOP_BOUNDS_H_
