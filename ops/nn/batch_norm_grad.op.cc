// FusedBatchNormGrad, V2 and V3, and _FusedBatchNormGradEx, which also computes the gradients of a
// Relu and of a side input. reserve_space_1 and 2 are mean and variance as used by the forward op.
#include "env/status.h"
#include "kernels/normalization/batch_norm.h"
#include "ops/nn/batch_norm_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status BatchNormGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckBatchNormAttrs(c.attrs()));
  TENON_ASSIGN_OR_RETURN(int64_t channels, BatchNormChannels(c, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t x_channels, BatchNormChannels(c, 1));
  if (channels < 0) channels = x_channels;
  if (!c.input(0).CompatibleWith(c.input(1))) {
    return InvalidArgument("y_backprop and x must have one shape, but have ", c.input(0).ToString(),
                           " and ", c.input(1).ToString());
  }
  TENON_ASSIGN_OR_RETURN(Shape x, MergeShapes(c.input(0), c.input(1)));
  for (int i = 2; i < 5; ++i) TENON_RETURN_IF_ERROR(ExpectPerChannel(c, i, channels));
  if (c.num_inputs() > 7) {
    TENON_RETURN_IF_ERROR(ExpectPerChannel(c, 6, channels));
    if (!x.CompatibleWith(c.input(7))) {
      return InvalidArgument("y must have x's shape ", x.ToString(), ", but has ",
                             c.input(7).ToString());
    }
  }
  c.set_output(0, x);
  for (int i = 1; i < c.num_outputs(); ++i) {
    c.set_output(i, i < 3 ? Shape({channels}) : i < 5 ? Shape({0}) : x);
  }
  return absl::OkStatus();
}

const OpRegistration grad_v1({
    .name = "FusedBatchNormGrad",
    .inputs = "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T",
    .outputs = "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, "
               "reserve_space_4: T",
    .attrs = "T: type; epsilon: float = 0.0001; data_format: string = NHWC; "
             "is_training: bool = true",
    .types = "T: float",
    .shape = BatchNormGradShape,
    .reference = BatchNormGradReference,
    .accelerated = BatchNormGradVector,
    .native = "_MklNativeFusedBatchNormGrad",
    .native_types = "float",
    .error_bound = ErrorBound::kBatchNormGradient,
});

const OpRegistration grad_v2({
    .name = "FusedBatchNormGradV2",
    .inputs = "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U",
    .outputs = "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, "
               "reserve_space_4: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; data_format: string = NHWC; "
             "is_training: bool = true",
    .types = "T: half bfloat16 float; U: float",
    .shape = BatchNormGradShape,
    .reference = BatchNormGradReference,
    .accelerated = BatchNormGradVector,
    .native = "_MklNativeFusedBatchNormGradV2",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kBatchNormGradient,
});

const OpRegistration grad_v3({
    .name = "FusedBatchNormGradV3",
    .inputs = "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, "
              "reserve_space_3: U",
    .outputs = "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, "
               "reserve_space_5: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; data_format: string = NHWC; "
             "is_training: bool = true",
    .types = "T: half bfloat16 float; U: float",
    .shape = BatchNormGradShape,
    .reference = BatchNormGradReference,
    .accelerated = BatchNormGradVector,
    .native = "_MklNativeFusedBatchNormGradV3",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kBatchNormGradient,
});

const OpRegistration grad_ex({
    .name = "_FusedBatchNormGradEx",
    .inputs = "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, "
              "reserve_space_3: U, offset: float, y: T",
    .outputs = "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, "
               "reserve_space_5: U, side_input_backprop: num_side_inputs * T",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; num_side_inputs: int = 0; "
             "activation_mode: string = Identity; data_format: string = NHWC; "
             "is_training: bool = true",
    .types = "T: half float bfloat16; U: float",
    .shape = BatchNormGradShape,
    .reference = BatchNormGradReference,
    .accelerated = BatchNormGradVector,
    .native = "_MklNativeFusedBatchNormGradEx",
    .native_types = "float bfloat16",
});

}  // namespace
}  // namespace tenon
