// The graph of one golden case: its node, with every input a Const or a Placeholder, and every
// output fetched.
#ifndef TENON_TESTS_SUPPORT_GOLDEN_GRAPH_H_
#define TENON_TESTS_SUPPORT_GOLDEN_GRAPH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

// What each of the node's inputs is.
enum class GraphInputKind {
  kConstant,
  kFed,              // a Placeholder that states its shape
  kFedUnknownShape,  // a Placeholder that states only its dtype
};

// `kinds`: one for each input. A Placeholder's name is "in" and the number of its input.
absl::StatusOr<Graph> GoldenGraph(const Node& node, const std::vector<Tensor>& inputs,
                                  const std::vector<GraphInputKind>& kinds, size_t num_outputs);

// The same graph as the body of both branches of a StatelessIf, whose condition is a Placeholder,
// "flag". `outputs`: their dtypes.
absl::StatusOr<Graph> InBranch(Graph body, const std::vector<DType>& outputs);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_GOLDEN_GRAPH_H_
