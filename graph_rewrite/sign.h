// The signs of tensors, derived from the op rows (Sign in ops/op_facts.h).
#ifndef TENON_GRAPH_REWRITE_SIGN_H_
#define TENON_GRAPH_REWRITE_SIGN_H_

#include "graph_rewrite/context.h"

namespace tenon {

// Whether the tensor is zero or more (or NaN) for every feed; false if unknown.
bool IsNeverNegative(const RuleContext& context, Endpoint e);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_SIGN_H_
