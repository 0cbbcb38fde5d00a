// Helpers for rules about contractions: convolutions, matrix products, einsum.
#ifndef TENON_GRAPH_REWRITE_CONTRACTION_H_
#define TENON_GRAPH_REWRITE_CONTRACTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// Conv2D, MatMul, Einsum … or a fused form: every op that a chain rule names.
bool IsContraction(absl::string_view op);
bool IsFusedContraction(absl::string_view op);

// OK for a Conv2D, or fused form, by a constant float filter of 1x1 pixels, channels last, without
// strides and padding. Otherwise FailedPrecondition with the reason.
absl::Status IsPointwise(RuleContext& context, const Node& conv);

// The axis of the result's channels, for BiasAdd: given by data_format, otherwise the last. -1 if
// the rank is not known.
int ChannelAxis(RuleContext& context, NodeId contraction);

// The number of elements of `operand` if it has one value per index of `axis` of a tensor that
// `operand` broadcasts to (all its other dimensions are 1); otherwise -1.
int64_t PerAxis(const Shape& operand, int rank, int axis);

// Whether `operand` broadcasts to `result` without broadening it, as far as the shapes are known.
bool BroadcastsInto(const Shape& operand, const Shape& result);

// How a factor on a contraction's result can be folded into its constant weights: along weight axes
// [first, last), treated as one axis; first == last for a factor of one element.
struct WeightAxes {
  int input = 1;  // the input that is the weights
  int first = 0, last = 0;
};
// `factor` must broadcast to the result. FailedPrecondition with the reason if it cannot be folded.
absl::StatusOr<WeightAxes> FactorAxes(RuleContext& context, NodeId contraction,
                                      const Shape& factor);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CONTRACTION_H_
