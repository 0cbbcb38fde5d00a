// Signs of tensors, from what the op rows say (Sign in ops/op_facts.h).
#ifndef TENON_GRAPH_REWRITE_SIGN_H_
#define TENON_GRAPH_REWRITE_SIGN_H_

#include "graph_rewrite/context.h"

namespace tenon {

// Zero or more (or NaN), whatever is fed. False where it is not known.
bool IsNeverNegative(const RuleContext& context, Endpoint e);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_SIGN_H_
