// Replaces a node by existing tensors.
#ifndef TENON_GRAPH_REWRITE_RULES_FORWARD_H_
#define TENON_GRAPH_REWRITE_RULES_FORWARD_H_

#include "absl/types/span.h"
#include "graph_rewrite/context.h"

namespace tenon {

// Makes the readers of port i of the node read values[i] instead. Does nothing if the node is not a
// candidate, or is an input of the graph.
Outcome Forward(RuleContext& context, NodeId id, absl::Span<const Endpoint> values);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULES_FORWARD_H_
