// What a rewrite does to a graph, as data: for each step the nodes that it removed, added and
// changed, and where the removed computations went. From that follows which nodes of the loaded
// graph each node of the rewritten graph computes (graph_rewrite/origins.h).
#ifndef TENON_GRAPH_EDIT_LOG_H_
#define TENON_GRAPH_EDIT_LOG_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "env/containers.h"
#include "graph/graph.h"

namespace tenon {

// One step. Node ids never repeat within a graph, so they identify nodes through all phases.
struct GraphEdit {
  struct Removed {
    NodeId id = kNoNode;
    std::string name, op;
  };
  std::vector<Removed> removed;
  // As the step left them, without tensors in their attributes.
  std::vector<Node> added, changed;
  // The computation of `first`, removed in this step, is now part of `second`. A removed node
  // without such a pair is no longer computed.
  std::vector<std::pair<NodeId, NodeId>> moved;
  // The nodes, from before the step, from which an added node was made. Each node in `moved` to it
  // is one.
  std::vector<std::pair<NodeId, NodeId>> made_from;  // (added, from)
};

// Used by the Rewriter, which reports each change before it makes it.
class EditLog {
 public:
  void BeginStep();
  // A node that exists is about to change or to be removed.
  void Touch(const Node& node);
  void Add(NodeId id);
  // `reader` no longer reads `of`: it is removed, or computes it itself.
  void Drop(NodeId of, NodeId reader);
  // All readers of `of` read `by` from now on; until EndReplacing, Drop has no effect.
  void BeginReplacing(NodeId of, NodeId by);
  void EndReplacing() { replacing_ = false; }
  // `anchor` is the node at which the step began; `in_use` whether something reads a node.
  GraphEdit EndStep(const Graph& graph, NodeId anchor, absl::FunctionRef<bool(NodeId)> in_use);

 private:
  using Ids = absl::InlinedVector<NodeId, 2>;
  void Take(NodeId of, NodeId taker);
  struct Touched {
    NodeId id = kNoNode;
    bool is_new = false;
    std::string name, op;  // before the step
  };
  Ids Resolve(const Graph& graph, NodeId removed) const;

  std::vector<Touched> touched_;      // of this step
  HashMap<NodeId, size_t> position_;  // in touched_
  std::vector<NodeId> dropped_;       // of this step: nodes that lost readers
  HashMap<NodeId, Ids> takers_;       // who took over from a node, maybe in part
  HashMap<NodeId, Ids> resolved_;     // by removed node: where it went
  bool replacing_ = false;
};

}  // namespace tenon

#endif  // TENON_GRAPH_EDIT_LOG_H_
