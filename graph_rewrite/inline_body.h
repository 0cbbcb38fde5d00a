// Nodes of a function that take the place of a call.
#ifndef TENON_GRAPH_REWRITE_INLINE_BODY_H_
#define TENON_GRAPH_REWRITE_INLINE_BODY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace tenon {

class RuleContext;

// Adds what `ends` of the function's graph need to the rule's graph, with `arguments` in place of
// its inputs. Returns where the ends are then. An error, before anything is added, if the function
// is cyclic.
absl::StatusOr<std::vector<Endpoint>> InlineBody(RuleContext& context, const Graph& body,
                                                 absl::Span<const Endpoint> arguments,
                                                 absl::Span<const Endpoint> ends);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_INLINE_BODY_H_
