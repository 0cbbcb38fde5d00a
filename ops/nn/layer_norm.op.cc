// _LayerNorm and _AddLayerNorm over the last axis:
//
//   y = (s - mean(s)) / sqrt(variance(s) + epsilon) * gamma + beta
//
// with s = x, or x + residual (each may broadcast to the other's shape). The second output of
// _AddLayerNorm is s.
#include "kernels/normalization/layer_norm.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status LayerNormShape(ShapeContext& c) {
  Shape x = c.input(0);
  if (x.has_rank() && x.rank() == 0) return InvalidArgument("x must have a last axis");
  if (c.num_inputs() == 4) {
    TENON_ASSIGN_OR_RETURN(x, BroadcastShapes(x, c.input(1)));
  }
  for (int i = c.num_inputs() - 2; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (!x.has_rank() || !c.input(i).has_rank()) continue;
    const int64_t have = c.input(i).dim(0), want = x.dim(x.rank() - 1);
    if (have != want && have >= 0 && want >= 0) {
      return InvalidArgument("gamma and beta must have ", want, " elements, but one has ", have);
    }
  }
  for (int o = 0; o < c.num_outputs(); ++o) c.set_output(o, x);
  return absl::OkStatus();
}

const OpRegistration layer_norm({
    .name = "_LayerNorm",
    .inputs = "x: T, gamma: T, beta: T",
    .outputs = "y: T",
    .attrs = "T: type; epsilon: float",
    .types = "T: half bfloat16 float double",
    .shape = LayerNormShape,
    .reference = LayerNormReference,
    .accelerated = LayerNormVector,
    .native = "_MklNativeLayerNorm",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::WithinLastAxis,
});

const OpRegistration add_layer_norm({
    .name = "_AddLayerNorm",
    .inputs = "x: T, residual: T, gamma: T, beta: T",
    .outputs = "y: T, sum: T",
    .attrs = "T: type; epsilon: float",
    .types = "T: half bfloat16 float double",
    .shape = LayerNormShape,
    .reference = LayerNormReference,
    .accelerated = LayerNormVector,
    .native = "_MklNativeAddLayerNorm",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::AddLayerNorm,
});

}  // namespace
}  // namespace tenon
