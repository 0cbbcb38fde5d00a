// The chain form of a rule: a contraction (convolution, matmul, einsum) and the ops that follow it
// one after the other, as far as the fused op can apply them to its result before storing it:
//
//   contraction → BiasAdd | Add constant per channel → Add tensor → activation …
//
// in any order and number. "fused_ops" lists them in order; their tensors become `args`. Whatever
// the table of elementwise ops has a post_op for can be in the chain, so a new activation needs no
// rule.
//
// The rule starts at the contraction, or at a fused op that can take more. Every link must have one
// reader, the next link, through data edges only. A residual Add is taken only if it never broadens
// the contraction's result; if both operands are contractions, the one that is computed later takes
// it.
#ifndef TENON_GRAPH_REWRITE_CHAIN_H_
#define TENON_GRAPH_REWRITE_CHAIN_H_

#include "graph_rewrite/context.h"

namespace tenon {

struct Rule;

Outcome TryChain(const Rule& rule, RuleContext& context, NodeId contraction);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CHAIN_H_
