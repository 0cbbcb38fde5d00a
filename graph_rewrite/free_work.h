// Nodes that cost nothing in a run: constants, arithmetic on shapes, which is done once for each
// set of input shapes, and ops that only pass memory on.
#ifndef TENON_GRAPH_REWRITE_FREE_WORK_H_
#define TENON_GRAPH_REWRITE_FREE_WORK_H_

#include <vector>

#include "graph/graph.h"

namespace tenon {

class FreeWork {
 public:
  enum class Kind {
    kRuns,      // takes time in each run
    kHolds,     // a constant, an input, or a node without a result
    kPlanning,  // computed once for each set of input shapes
    kAlias,     // passes memory on
  };
  // Assumes that all shapes follow from the shapes of the inputs. A graph with a cycle has no free
  // work.
  explicit FreeWork(const Graph& graph);

  Kind KindOf(NodeId id) const { return kinds_[static_cast<size_t>(id)]; }
  bool IsFree(NodeId id) const { return KindOf(id) != Kind::kRuns; }

 private:
  std::vector<Kind> kinds_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_FREE_WORK_H_
