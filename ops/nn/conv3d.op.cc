// Conv3D and its fused form. input [N, D, H, W, C] or [N, C, D, H, W];
// filter [d, h, w, C / groups, O].
#include "kernels/convolution/conv.h"
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status Shape3D(ShapeContext& c) { return ConvShape(c, 3, ConvKind::kDense); }
absl::StatusOr<std::unique_ptr<Kernel>> ReferenceConv3D(PrepareContext& p) {
  return ConvReferenceKernel(p, 3, ConvKind::kDense);
}
absl::StatusOr<std::unique_ptr<Kernel>> OnednnConv3D(PrepareContext& p) {
  return ConvOnednnKernel(p, 3, ConvKind::kDense);
}

const OpRegistration conv3d({
    .name = "Conv3D",
    .inputs = "input: T, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NDHWC; "
             "dilations: list(int) = [1, 1, 1, 1, 1]",
    .types = "T: half bfloat16 float double",
    .shape = Shape3D,
    .reference = ReferenceConv3D,
    .accelerated = OnednnConv3D,
    .native = "_MklNativeConv3D",
    .native_types = "float bfloat16 double",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .error_bound = ErrorBound::kConvolution,
});

const OpRegistration fused_conv3d({
    .name = "_FusedConv3D",
    .inputs = "input: T, filter: T, args: num_args * T",
    .outputs = "output: T",
    .attrs = "T: type; num_args: int; strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NDHWC; "
             "dilations: list(int) = [1, 1, 1, 1, 1]; fused_ops: list(string) = []; "
             "epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
    .types = "T: half bfloat16 float double",
    .shape = Shape3D,
    .reference = ReferenceConv3D,
    .accelerated = OnednnConv3D,
    .native = "_MklNativeFusedConv3D",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Contraction,
    .error_bound = ErrorBound::kConvolution,
});

}  // namespace
}  // namespace tenon
