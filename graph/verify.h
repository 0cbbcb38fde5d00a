// Invariants of a graph. Run on what the outside gives us, and after each rewriting phase in debug
// builds and tests.
#ifndef TENON_GRAPH_VERIFY_H_
#define TENON_GRAPH_VERIFY_H_

#include <functional>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace tenon {

// What this folder cannot know of a node: how many outputs it has, whether its inputs and
// attributes suit its op. Gives the number of outputs, -1 where it is not known.
using NodeCheck = std::function<absl::StatusOr<int>(const Graph&, const Node&)>;

// Every input, control input, signature input, output and target is a node of the graph; ports are
// in range; names are unique and lead to their node; there is no cycle; `check` accepts every node.
// Functions are verified too. Internal, naming the node.
absl::Status VerifyGraph(const Graph& graph, const NodeCheck& check = nullptr);

}  // namespace tenon

#endif  // TENON_GRAPH_VERIFY_H_
