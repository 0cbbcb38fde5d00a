// Tries every rule of a phase on a graph in which none of them fires any more, to learn what stops
// each.
#ifndef TENON_GRAPH_REWRITE_TRIES_H_
#define TENON_GRAPH_REWRITE_TRIES_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "graph_rewrite/pipeline.h"

namespace tenon {

struct Try {
  const Rule* rule = nullptr;
  NodeId at = kNoNode;
  Outcome outcome;
  std::vector<Block> blocks;  // all safety checks that failed on the way
};

// Whether the rule was a real candidate: its anchor and most of its pattern matched.
bool WasCandidate(const Try& attempt);
// The object form of what stopped it.
Reason ReasonOf(const Try& attempt, const Graph& graph);

enum class TriedRules { kEarly, kLast };  // by Rule::last
// Of the phase's rules, but sweeps: the candidates, and those that failed a safety check.
// `functions`: as they were before the phase, since rules that look into functions saw these.
std::vector<Try> TryRules(Phase phase, TriedRules which, const Graph& graph,
                          const FunctionLibrary& functions, const RewriteOptions& options);
// Calls `visit` with each node at which the rule can start.
void ForEachAnchor(const Rule& rule, const Graph& graph, absl::FunctionRef<void(NodeId)> visit);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_TRIES_H_
