// Rules that are two little graphs (graph_rewrite/rule.h, form 1): what their hooks see, and how
// one is tried at a node.
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
