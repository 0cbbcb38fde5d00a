// Near misses: rewrites that one change to the model would have allowed. Nothing is guessed: the
// change is made in a copy of the graph, and the rule tried there.
#ifndef TENON_GRAPH_REWRITE_NEAR_MISS_H_
#define TENON_GRAPH_REWRITE_NEAR_MISS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph_rewrite/tries.h"

namespace tenon {

struct NearMiss {
  Reason reason;
  Phase phase = Phase::kClean;
  std::string rule;
  std::string function;     // that it is in, as RewriteStep::function names it
  std::string at;           // the node at which the rule would have fired
  NodeId anchor = kNoNode;  // the same, if `nodes` has any
  // The nodes that it would have replaced, as they are after the phase.
  std::vector<NodeId> nodes;
  // For kShape, which concerns the whole graph, and kDisabled, instead: their names.
  std::vector<std::string> names;
};

// What one change would allow in `graph`, which is a graph after the phase, where `tries` stopped.
std::vector<NearMiss> FindNearMisses(Phase phase, const Graph& graph, const std::vector<Try>& tries,
                                     const RewriteOptions& options,
                                     const std::function<void(double)>& progress);

// What rewriting `loaded` does more (`report` tells what it did) if its inputs have these shapes,
// or with all rules enabled.
absl::StatusOr<std::vector<NearMiss>> FindShapeMisses(
    const Graph& loaded, const RewriteReport& report, const RewriteOptions& options,
    const OrderedMap<std::string, Shape>& input_shapes);
absl::StatusOr<std::vector<NearMiss>> FindDisabledMisses(const Graph& loaded,
                                                         const RewriteReport& report,
                                                         const RewriteOptions& options);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_NEAR_MISS_H_
