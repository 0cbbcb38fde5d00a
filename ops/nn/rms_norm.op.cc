// _RmsNorm and _AddRmsNorm over the last axis:
//
//   y = s / sqrt(mean(s^2) + epsilon) * gamma
//
// with s = x, or x + residual (each may broadcast to the other's shape). The second output of
// _AddRmsNorm is s.
#include "kernels/normalization/layer_norm.h"
#include "ops/nn/layer_norm_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status RmsNormShape(ShapeContext& c) { return LastAxisNormShape(c, 1); }

const OpRegistration rms_norm({
    .name = "_RmsNorm",
    .inputs = "x: T, gamma: T",
    .outputs = "y: T",
    .attrs = "T: type; epsilon: float",
    .types = "T: half bfloat16 float double",
    .shape = RmsNormShape,
    .reference = RmsNormReference,
    .accelerated = RmsNormVector,
    .native = "_MklNativeRmsNorm",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::WithinLastAxis,
    .error_bound = ErrorBound::kBatchNorm,
});

const OpRegistration add_rms_norm({
    .name = "_AddRmsNorm",
    .inputs = "x: T, residual: T, gamma: T",
    .outputs = "y: T, sum: T",
    .attrs = "T: type; epsilon: float",
    .types = "T: half bfloat16 float double",
    .shape = RmsNormShape,
    .reference = RmsNormReference,
    .accelerated = RmsNormVector,
    .native = "_MklNativeAddRmsNorm",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::AddLayerNorm,
    .error_bound = ErrorBound::kBatchNorm,
});

}  // namespace
}  // namespace tenon
