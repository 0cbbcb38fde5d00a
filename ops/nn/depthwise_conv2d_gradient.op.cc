// Gradients of DepthwiseConv2dNative.
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr ConvGradientOp kOp{.kind = ConvKind::kDepthwise};

constexpr char kDepthwiseGradientAttrs[] =
    "T: type; strides: list(int); padding: string; explicit_paddings: list(int) = []; "
    "data_format: string = NHWC; dilations: list(int) = [1, 1, 1, 1]";

const OpRegistration depthwise_input_gradient({
    .name = "DepthwiseConv2dNativeBackpropInput",
    .inputs = "input_sizes: int32, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = kDepthwiseGradientAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ConvInputGradientRow<kOp>::Shape,
    .reference = ConvInputGradientRow<kOp>::Reference,
    .accelerated = ConvInputGradientRow<kOp>::Onednn,
    .native = "_MklNativeDepthwiseConv2dNativeBackpropInput",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kInputGradient,
});

const OpRegistration depthwise_filter_gradient({
    .name = "DepthwiseConv2dNativeBackpropFilter",
    .inputs = "input: T, filter_sizes: int32, out_backprop: T",
    .outputs = "output: T",
    .attrs = kDepthwiseGradientAttrs,
    .types = "T: half bfloat16 float double",
    .shape = ConvFilterGradientRow<kOp>::Shape,
    .reference = ConvFilterGradientRow<kOp>::Reference,
    .accelerated = ConvFilterGradientRow<kOp>::Onednn,
    .native = "_MklNativeDepthwiseConv2dNativeBackpropFilter",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kDepthwiseFilterGradient,
});

}  // namespace
}  // namespace tenon
