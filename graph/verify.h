// Checks the invariants of a graph. Runs on every graph from outside and, in debug builds and
// tests, after each rewriting phase.
#ifndef TENON_GRAPH_VERIFY_H_
#define TENON_GRAPH_VERIFY_H_

#include <functional>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace tenon {

// Checks what this folder cannot know about a node: its number of outputs, and whether its inputs
// and attributes suit its op. Returns the number of outputs, or -1 if unknown.
using NodeCheck = std::function<absl::StatusOr<int>(const Graph&, const Node&)>;

// Every input, control input, signature input, output and target is a node of the graph; ports are
// in range; names are unique and lead to their nodes; there is no cycle; `check` accepts every
// node. Functions are verified too. The error is Internal and names the node.
absl::Status VerifyGraph(const Graph& graph, const NodeCheck& check = nullptr);

}  // namespace tenon

#endif  // TENON_GRAPH_VERIFY_H_
