// Pattern rules (form 1 in graph_rewrite/rule.h), a pattern and a replacement: what their hooks
// see, and the function that tries one at a node.
#ifndef TENON_GRAPH_REWRITE_PATTERN_H_
#define TENON_GRAPH_REWRITE_PATTERN_H_

#include "graph_rewrite/match.h"
#include "graph_rewrite/replacement.h"

namespace tenon {

struct Rule;

Outcome TryPattern(const Rule& rule, const CompiledPattern& pattern, RuleContext& context,
                   NodeId root);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_PATTERN_H_
