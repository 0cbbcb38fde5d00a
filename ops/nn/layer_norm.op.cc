// _LayerNorm and _AddLayerNorm over the last axis:
//
//   y = (s - mean(s)) / sqrt(variance(s) + epsilon) * gamma + beta
//
// with s = x, or x + residual (each may broadcast to the other's shape). The second output of
// _AddLayerNorm is s.
#include "kernels/normalization/layer_norm.h"

#include "ops/nn/layer_norm_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status LayerNormShape(ShapeContext& c) { return LastAxisNormShape(c, 2); }

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
    .error_bound = ErrorBound::kBatchNorm,
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
    .error_bound = ErrorBound::kBatchNorm,
});

}  // namespace
}  // namespace tenon
