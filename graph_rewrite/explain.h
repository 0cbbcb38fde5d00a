// Why-nots: for a node, each rule that could have involved it, and the check at which its best
// partial match failed.
//
//   TENON_ASSIGN_OR_RETURN(auto all, Explain(graph, {.services = &services}, {"conv1"}));
//   conv1 (Conv2D)
//     fuse  FuseConv2D   fired: now part of 'relu1' (_FusedConv2D)
//     fuse  FusePadConv  'pad' (Pad): it pads the batch or the channels
#ifndef TENON_GRAPH_REWRITE_EXPLAIN_H_
#define TENON_GRAPH_REWRITE_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/pipeline.h"

namespace tenon {

struct RuleVerdict {
  std::string rule;
  Phase phase = Phase::kClean;
  bool fired = false;
  std::string reason;  // if it fired: the edit's location; otherwise why not
};

struct NodeExplanation {
  std::string node, op;            // as loaded
  std::string now, now_op;         // what computes it after rewriting; empty: removed or folded
  bool accelerated = false;        // `now_op` is a private op
  std::vector<RuleVerdict> rules;  // in the order in which they were tried
};

// Rewrites a copy of the graph. `nodes` are names as loaded; empty: every contraction. NotFound if
// a name is not a node of the graph.
absl::StatusOr<std::vector<NodeExplanation>> Explain(const Graph& graph,
                                                     const RewriteOptions& options,
                                                     const std::vector<std::string>& nodes);

// The same, as text.
std::string ExplainText(const std::vector<NodeExplanation>& explanations);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_EXPLAIN_H_
