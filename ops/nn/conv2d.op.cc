// Conv2D and its fused form. input [N, H, W, C] or [N, C, H, W]; filter [h, w, C / groups, O].
#include "kernels/convolution/conv.h"
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status Conv2DShape(ShapeContext& c) { return ConvShape(c, 2, ConvKind::kDense); }
absl::StatusOr<std::unique_ptr<Kernel>> ReferenceConv2D(PrepareContext& p) {
  return ConvReferenceKernel(p, 2, ConvKind::kDense);
}
absl::StatusOr<std::unique_ptr<Kernel>> OnednnConv2D(PrepareContext& p) {
  return ConvOnednnKernel(p, 2, ConvKind::kDense);
}

const OpRegistration conv2d({
    .name = "Conv2D",
    .inputs = "input: T, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; strides: list(int); use_cudnn_on_gpu: bool = true; padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC; "
             "dilations: list(int) = [1, 1, 1, 1]",
    .types = "T: half bfloat16 float double int32",
    .shape = Conv2DShape,
    .reference = ReferenceConv2D,
    .accelerated = OnednnConv2D,
    .native = "_MklNativeConv2D",
    .native_types = "float bfloat16 double",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .on_integers = OnIntegers::kContraction,
    .error_bound = ErrorBound::kConvolution,
});

const OpRegistration fused_conv2d({
    .name = "_FusedConv2D",
    .inputs = "input: T, filter: T, args: num_args * T",
    .outputs = "output: T",
    .attrs = "T: type; num_args: int; strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC; "
             "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; "
             "epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
    .types = "T: half bfloat16 float double",
    .shape = Conv2DShape,
    .reference = ReferenceConv2D,
    .accelerated = OnednnConv2D,
    .native = "_MklNativeFusedConv2D",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .on_integers = OnIntegers::kFusedContraction,
    .error_bound = ErrorBound::kConvolution,
});

}  // namespace
}  // namespace tenon
