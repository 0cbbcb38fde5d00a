// A node that gives way to tensors which are there already.
#ifndef TENON_GRAPH_REWRITE_RULES_FORWARD_H_
#define TENON_GRAPH_REWRITE_RULES_FORWARD_H_

#include "absl/types/span.h"
#include "graph_rewrite/context.h"

namespace tenon {

// Readers of port i of the node get values[i] instead. Not where it is no candidate, or an input of
// the graph.
Outcome Forward(RuleContext& context, NodeId id, absl::Span<const Endpoint> values);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULES_FORWARD_H_
