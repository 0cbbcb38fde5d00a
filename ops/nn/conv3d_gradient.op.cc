// Gradients of Conv3D. The V2 ops get the result's shape from a vector of sizes; the others from a
// tensor with that shape.
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr ConvGradientOp kByVector{.spatial = 3};
constexpr ConvGradientOp kByTensor{.spatial = 3, .sizes = ConvGradientOp::Sizes::kTensor};

constexpr char kConv3DGradientAttrs[] =
    "T: type; strides: list(int); padding: string; dilations: list(int) = [1, 1, 1, 1, 1]";
constexpr char kAttrsV2[] =
    "T: type; strides: list(int); padding: string; data_format: string = NDHWC; "
    "dilations: list(int) = [1, 1, 1, 1, 1]";

const OpRegistration conv3d_input_gradient({
    .name = "Conv3DBackpropInput",
    .inputs = "input: T, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = kConv3DGradientAttrs,
    .types = "T: half float double",
    .shape = ConvInputGradientRow<kByTensor>::Shape,
    .reference = ConvInputGradientRow<kByTensor>::Reference,
    .accelerated = ConvInputGradientRow<kByTensor>::Onednn,
    .native = "_MklNativeConv3DBackpropInput",
    .error_bound = ErrorBound::kInputGradient,
});

const OpRegistration conv3d_input_gradient_v2({
    .name = "Conv3DBackpropInputV2",
    .inputs = "input_sizes: Tshape, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = "T: type; strides: list(int); padding: string; data_format: string = NDHWC; "
             "dilations: list(int) = [1, 1, 1, 1, 1]; Tshape: type = int32",
    .types = "T: half bfloat16 float double; Tshape: int32 int64",
    .shape = ConvInputGradientRow<kByVector>::Shape,
    .reference = ConvInputGradientRow<kByVector>::Reference,
    .accelerated = ConvInputGradientRow<kByVector>::Onednn,
    .native = "_MklNativeConv3DBackpropInputV2",
    .native_types = "float bfloat16 double",
    .batch_axis = batch_axis::TransposedConvolution,
    .error_bound = ErrorBound::kInputGradient,
});

const OpRegistration conv3d_filter_gradient({
    .name = "Conv3DBackpropFilter",
    .inputs = "input: T, filter: T, out_backprop: T",
    .outputs = "output: T",
    .attrs = kConv3DGradientAttrs,
    .types = "T: half float double",
    .shape = ConvFilterGradientRow<kByTensor>::Shape,
    .reference = ConvFilterGradientRow<kByTensor>::Reference,
    .accelerated = ConvFilterGradientRow<kByTensor>::Onednn,
    .native = "_MklNativeConv3DBackpropFilter",
    .error_bound = ErrorBound::kFilterGradient,
});

const OpRegistration conv3d_filter_gradient_v2({
    .name = "Conv3DBackpropFilterV2",
    .inputs = "input: T, filter_sizes: int32, out_backprop: T",
    .outputs = "output: T",
    .attrs = kAttrsV2,
    .types = "T: half bfloat16 float double",
    .shape = ConvFilterGradientRow<kByVector>::Shape,
    .reference = ConvFilterGradientRow<kByVector>::Reference,
    .accelerated = ConvFilterGradientRow<kByVector>::Onednn,
    .native = "_MklNativeConv3DBackpropFilterV2",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kFilterGradient,
});

}  // namespace
}  // namespace tenon
