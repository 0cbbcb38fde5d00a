// What rules need to know of contractions: convolutions, matrix products, einsum.
#ifndef TENON_GRAPH_REWRITE_CONTRACTION_H_
#define TENON_GRAPH_REWRITE_CONTRACTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// Conv2D, MatMul, Einsum … or a fused form: every op that a chain rule names.
bool IsContraction(absl::string_view op);
bool IsFusedContraction(absl::string_view op);

// Axis of the result that is its channel, for BiasAdd: by data_format, else the last. -1 where the
// rank is not known.
int ChannelAxis(RuleContext& context, NodeId contraction);

// The number of elements of `operand` if it holds one value per index of `axis` of a tensor that
// `operand` broadcasts to (all its other dimensions are 1); else -1.
int64_t PerAxis(const Shape& operand, int rank, int axis);

// `operand` broadcasts to `result` without broadening it, as far as the shapes are known to say.
bool BroadcastsInto(const Shape& operand, const Shape& result);

// Where a factor on a contraction's result can go into its constant weights: along weight axes
// [first, last), seen as one axis; first == last for a factor of one element.
struct WeightAxes {
  int input = 1;  // the input that is the weights
  int first = 0, last = 0;
};
// `factor` broadcasts to the result. FailedPrecondition with the reason why not.
absl::StatusOr<WeightAxes> FactorAxes(RuleContext& context, NodeId contraction,
                                      const Shape& factor);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CONTRACTION_H_
