// Why-nots: for a node, each rule that took part in its computation, and each that was a real
// candidate, with the check that stopped it.
//
//   TENON_ASSIGN_OR_RETURN(auto all, Explain(graph, {.services = &services}, {"conv1"}));
//   conv1 (Conv2D)
//     fuse  FuseConv2D   fired: now part of 'relu1' (_FusedConv2D)
//     fuse  FusePadConv  'pad' (Pad): it pads the batch or the channels
#ifndef TENON_GRAPH_REWRITE_EXPLAIN_H_
#define TENON_GRAPH_REWRITE_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/story.h"

namespace tenon {

struct RuleVerdict {
  std::string rule;
  Phase phase = Phase::kClean;
  bool fired = false;
  // One change to the model, which was tried, would have let the rule fire.
  bool near_miss = false;
  std::string reason;  // if it fired: the edit's location; otherwise why.Text()
  Reason why;          // if it did not fire
};

struct NodeExplanation {
  std::string node, op;      // as loaded
  std::string function;      // that it is in, as RewriteStep::function names it; empty: none
  std::string now, now_op;   // what computes it after rewriting; empty: removed or folded
  bool accelerated = false;  // `now_op` is a private op
  // By phase: what fired, in order, then near misses, then other candidates, best match first.
  std::vector<RuleVerdict> rules;
};

// A node by name: of the graph itself or, if that has none, of the first of its functions that
// does.
struct FoundNode {
  std::string function;  // as RewriteStep::function names it
  NodeId node = kNoNode;
};
std::optional<FoundNode> FindAnywhere(const Graph& graph, absl::string_view name);

// Rewrites a copy of the graph. `nodes` are names as loaded; empty: every node of the graph itself
// that takes time and whose op has an accelerated kernel. A name that the graph does not have is
// looked for in its functions. NotFound if a name is not a node of either.
absl::StatusOr<std::vector<NodeExplanation>> Explain(const Graph& graph,
                                                     const RewriteOptions& options,
                                                     const std::vector<std::string>& nodes);
// The same, of a story that has been told.
absl::StatusOr<std::vector<NodeExplanation>> Explain(const Story& story,
                                                     const std::vector<std::string>& nodes);

// The same, as text.
std::string ExplainText(const std::vector<NodeExplanation>& explanations);

// Why a node of a rewritten graph runs a reference kernel. (Whether a node with a native name does,
// only its plan tells.)
Reason WhyNotAccelerated(const Node& node);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_EXPLAIN_H_
