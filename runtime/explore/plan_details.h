// What a plan for given inputs knows of each node, beyond its steps: the shapes of results, and why
// an accelerated kernel refused a node.
#ifndef TENON_RUNTIME_EXPLORE_PLAN_DETAILS_H_
#define TENON_RUNTIME_EXPLORE_PLAN_DETAILS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"
#include "graph_rewrite/reason.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct PlanDetails {
  // By node, without values; shapes may be partial where they depend on data.
  std::vector<std::vector<TensorSpec>> outputs;
  HashMap<NodeId, Reason> refusals;  // nodes whose accelerated kernel refused them
};

// Of a rewritten graph, for inputs with these dtypes and shapes (in the order of Graph::inputs();
// dtype kInvalid: omitted). `reference` are nodes that run reference kernels in such a plan. Errors
// as BuildPlan.
absl::StatusOr<PlanDetails> DetailsOfPlan(const Graph& graph, absl::Span<const TensorSpec> inputs,
                                          absl::Span<const NodeId> reference,
                                          const Services& services);

// The reason object of a kernel's refusal ("channels are not last"), with what would have to
// change in the model, as far as it says.
Reason ReasonOfRefusal(const Node& node, absl::string_view refusal);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_PLAN_DETAILS_H_
