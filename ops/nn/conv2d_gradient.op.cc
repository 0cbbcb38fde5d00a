// Gradients of Conv2D. The V2 ops get the result's shape from a tensor with that shape; the others
// from a vector of sizes. Conv2DBackpropInput is also the transposed convolution.
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

using Sizes = ConvGradientOp::Sizes;
using InputGradient = ConvInputGradientRow<ConvGradientOp{}>;
using InputGradientV2 = ConvInputGradientRow<ConvGradientOp{.sizes = Sizes::kTensor}>;
using FilterGradient = ConvFilterGradientRow<ConvGradientOp{}>;
using FilterGradientV2 = ConvFilterGradientRow<ConvGradientOp{.sizes = Sizes::kTensor}>;

constexpr char kConv2DGradientAttrs[] =
    "T: type; strides: list(int); use_cudnn_on_gpu: bool = true; padding: string; "
    "explicit_paddings: list(int) = []; data_format: string = NHWC; "
    "dilations: list(int) = [1, 1, 1, 1]";

const OpRegistration conv2d_input_gradient({
    .name = "Conv2DBackpropInput",
    .inputs = "input_sizes: int32, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = kConv2DGradientAttrs,
    .types = "T: half bfloat16 float double int32",
    .shape = InputGradient::Shape,
    .reference = InputGradient::Reference,
    .accelerated = InputGradient::Onednn,
    .native = "_MklNativeConv2DBackpropInput",
    .native_types = "float bfloat16 double",
    .batch_axis = batch_axis::TransposedConvolution,
    .error_bound = ErrorBound::kInputGradient,
});

const OpRegistration conv2d_input_gradient_v2({
    .name = "Conv2DBackpropInputV2",
    .inputs = "input: T, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = kConv2DGradientAttrs,
    .types = "T: half bfloat16 float double int32",
    .shape = InputGradientV2::Shape,
    .reference = InputGradientV2::Reference,
    .accelerated = InputGradientV2::Onednn,
    .native = "_MklNativeConv2DBackpropInputV2",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kInputGradient,
});

const OpRegistration conv2d_filter_gradient({
    .name = "Conv2DBackpropFilter",
    .inputs = "input: T, filter_sizes: int32, out_backprop: T",
    .outputs = "output: T",
    .attrs = kConv2DGradientAttrs,
    .types = "T: half bfloat16 float double",
    .shape = FilterGradient::Shape,
    .reference = FilterGradient::Reference,
    .accelerated = FilterGradient::Onednn,
    .native = "_MklNativeConv2DBackpropFilter",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kFilterGradient,
});

const OpRegistration conv2d_filter_gradient_v2({
    .name = "Conv2DBackpropFilterV2",
    .inputs = "input: T, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = kConv2DGradientAttrs,
    .types = "T: half bfloat16 float double",
    .shape = FilterGradientV2::Shape,
    .reference = FilterGradientV2::Reference,
    .accelerated = FilterGradientV2::Onednn,
    .native = "_MklNativeConv2DBackpropFilterV2",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kFilterGradient,
});

// Also computes the gradient of the bias that was added after the convolution.
const OpRegistration filter_gradient_with_bias({
    .name = "_Conv2DBackpropFilterWithBias",
    .inputs = "input: T, filter_sizes: int32, out_backprop: T",
    .outputs = "output: T, bias_grad: T",
    .attrs = kConv2DGradientAttrs,
    .types = "T: half bfloat16 float double",
    .shape = FilterGradient::Shape,
    .reference = FilterGradient::Reference,
    .accelerated = FilterGradient::Onednn,
    .native = "_MklNativeConv2DBackpropFilterWithBias",
    .native_types = "float bfloat16 double",
    .eager = false,
    .internal = true,
    .error_bound = ErrorBound::kFilterGradient,
    .rounds_to_integers = true,
});

}  // namespace
}  // namespace tenon
