// DepthwiseConv2dNative and its fused form. input [N, H, W, C] or [N, C, H, W]; filter [h, w, C,
// M]: output channel c * M + m depends only on input channel c.
#include "kernels/convolution/conv.h"
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DepthwiseConv2DShape(ShapeContext& c) { return ConvShape(c, 2, ConvKind::kDepthwise); }
absl::StatusOr<std::unique_ptr<Kernel>> ReferenceDepthwiseConv2D(PrepareContext& p) {
  return ConvReferenceKernel(p, 2, ConvKind::kDepthwise);
}
absl::StatusOr<std::unique_ptr<Kernel>> OnednnDepthwiseConv2D(PrepareContext& p) {
  return ConvOnednnKernel(p, 2, ConvKind::kDepthwise);
}

const OpRegistration depthwise_conv2d({
    .name = "DepthwiseConv2dNative",
    .inputs = "input: T, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC; "
             "dilations: list(int) = [1, 1, 1, 1]",
    .types = "T: half bfloat16 float double",
    .shape = DepthwiseConv2DShape,
    .reference = ReferenceDepthwiseConv2D,
    .accelerated = OnednnDepthwiseConv2D,
    .native = "_MklNativeDepthwiseConv2dNative",
    .native_types = "float bfloat16 double",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .on_integers = OnIntegers::kContraction,
    .error_bound = ErrorBound::kDepthwiseConvolution,
});

const OpRegistration fused_depthwise_conv2d({
    .name = "_FusedDepthwiseConv2dNative",
    .inputs = "input: T, filter: T, args: num_args * T",
    .outputs = "output: T",
    .attrs = "T: type; num_args: int; strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC; "
             "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; "
             "epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
    .types = "T: half bfloat16 float double",
    .shape = DepthwiseConv2DShape,
    .reference = ReferenceDepthwiseConv2D,
    .accelerated = OnednnDepthwiseConv2D,
    .native = "_MklNativeFusedDepthwiseConv2dNative",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .on_integers = OnIntegers::kFusedContraction,
    .error_bound = ErrorBound::kDepthwiseConvolution,
});

}  // namespace
}  // namespace tenon
