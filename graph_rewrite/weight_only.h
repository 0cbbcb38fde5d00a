// Weights that a graph stores smaller than floats and expands in front of a matrix product:
//
//   Const → Cast → [Sub zeros] → [Mul scales] → [Reshape groups into rows] → [Slice] → product
//
// Elements are bfloat16, half, int8 or uint8; or 4-bit integers, two in a byte of a uint8 constant
// P, unpacked as ConcatV2(BitwiseAnd(P, 15), RightShift(P, 4)) along the axis within a group.
#ifndef TENON_GRAPH_REWRITE_WEIGHT_ONLY_H_
#define TENON_GRAPH_REWRITE_WEIGHT_ONLY_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// In the form of _WeightOnlyMatMul (kernels/matmul/weight_only.h).
struct SmallWeights {
  Tensor weights;
  std::optional<Tensor> scales, zeros;
  int bits = 8;
  int64_t group = 0;
  bool transposed = false;
  Endpoint constant;  // the Const node, of which `weights` may be a reshaped view
};

// Whether the op can be a product with such weights in input 1: its weights are a matrix, and the
// other operand is not transposed.
bool TakesSmallWeights(RuleContext& context, const Node& product);

// The weights of such a product. FailedPrecondition with the reason if they are not of that form.
absl::StatusOr<SmallWeights> FindSmallWeights(RuleContext& context, const Node& product);

// Whether the node computes on constants and is part of what FindSmallWeights would find in some
// product: it must not be folded. Never if the rule FuseWeightOnly is disabled.
bool ExpandsSmallWeights(RuleContext& context, NodeId id);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_WEIGHT_ONLY_H_
