// Loop-invariant work: what a loop's body computes only from constants and from variables that all
// iterations share. The runtime computes it once (runtime/plan/once_steps.h), unless it is fused
// with what changes from iteration to iteration.
#ifndef TENON_GRAPH_REWRITE_LOOP_INVARIANTS_H_
#define TENON_GRAPH_REWRITE_LOOP_INVARIANTS_H_

#include <string>
#include <vector>

#include "env/containers.h"
#include "graph/graph.h"

namespace tenon {

// By argument of a loop's body: whether every iteration passes it on as it is.
std::vector<bool> InvariantArguments(const Graph& body);

// The functions that are bodies of loops in the graph or in one of its functions.
HashSet<std::string> LoopBodies(const Graph& graph);

// The nodes of a loop's body that are worth computing once: contractions, and what follows them.
class LoopInvariants {
 public:
  LoopInvariants() = default;  // of a graph that is no loop's body
  explicit LoopInvariants(const Graph& body);

  // Whether `node` is such work, while `reader` has another result in each iteration.
  bool EndAt(const Graph& body, NodeId node, NodeId reader);

 private:
  // In increasing order: an op's result is at least what its inputs are.
  enum class Kind { kConstant, kInvariant, kWork, kVarying };
  Kind KindOf(const Graph& body, NodeId node);
  static Kind KindOf(const Node& n, Kind inputs);

  // Rewrites keep what a node computes, and so its kind.
  HashMap<NodeId, Kind> known_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_LOOP_INVARIANTS_H_
