// Products that must not be computed with fewer digits.
#ifndef TENON_GRAPH_REWRITE_EXACT_PRODUCTS_H_
#define TENON_GRAPH_REWRITE_EXACT_PRODUCTS_H_

#include "graph_rewrite/context.h"

namespace tenon {

// Whether each column of the matrix (row, if it is transposed) has at most one number that is not
// zero: a product by it chooses features, and sums nothing.
bool ChoosesTerms(const Tensor& weights, bool transposed);

// Whether it adds a constant, or multiplies by one.
bool ShiftsOrScales(const RuleContext& context, const Node& n);

// Whether the node's result is compared with something, perhaps after it has been moved, scaled or
// shifted by constants: its last digits decide.
bool IsCompared(const RuleContext& context, NodeId id);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_EXACT_PRODUCTS_H_
