// FusedBatchNorm, V2 and V3, and _FusedBatchNormEx, which adds a side input and applies a Relu.
#include "kernels/normalization/batch_norm.h"

#include "env/status.h"
#include "ops/nn/batch_norm_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status BatchNormShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckBatchNormAttrs(c.attrs()));
  TENON_ASSIGN_OR_RETURN(int64_t channels, BatchNormChannels(c, 0));
  // Inputs that are not read may have any size; usually they are empty.
  const bool reads_statistics = !c.attrs().Bool("is_training", true) ||
                                c.attrs().Float("exponential_avg_factor", 1.0f) != 1.0f;
  for (int i = 1; i < 5; ++i) {
    if (i < 3 || reads_statistics) {
      TENON_RETURN_IF_ERROR(ExpectPerChannel(c, i, channels));
    } else {
      TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    }
  }
  Shape x = c.input(0);
  if (c.num_inputs() > 5) {
    if (!x.CompatibleWith(c.input(5))) {
      return InvalidArgument("the side input must have x's shape ", x.ToString(), ", but has ",
                             c.input(5).ToString());
    }
    TENON_ASSIGN_OR_RETURN(x, MergeShapes(x, c.input(5)));
  }
  c.set_output(0, x);
  for (int i = 1; i < c.num_outputs(); ++i) {
    c.set_output(i, i == 5 ? Shape() : Shape({channels}));
  }
  return absl::OkStatus();
}

const OpRegistration v1({
    .name = "FusedBatchNorm",
    .inputs = "x: T, scale: T, offset: T, mean: T, variance: T",
    .outputs = "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    .attrs = "T: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: float",
    .shape = BatchNormShape,
    .reference = BatchNormReference,
    .accelerated = BatchNormVector,
    .native = "_MklNativeFusedBatchNorm",
    .native_types = "float",
    .batch_axis = batch_axis::BatchNorm,
    .error_bound = ErrorBound::kBatchNorm,
});

const OpRegistration v2({
    .name = "FusedBatchNormV2",
    .inputs = "x: T, scale: U, offset: U, mean: U, variance: U",
    .outputs = "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: half bfloat16 float; U: float",
    .shape = BatchNormShape,
    .reference = BatchNormReference,
    .accelerated = BatchNormVector,
    .native = "_MklNativeFusedBatchNormV2",
    .native_types = "float bfloat16",
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::BatchNorm,
    .error_bound = ErrorBound::kBatchNorm,
});

const OpRegistration v3({
    .name = "FusedBatchNormV3",
    .inputs = "x: T, scale: U, offset: U, mean: U, variance: U",
    .outputs = "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, "
               "reserve_space_3: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: half bfloat16 float; U: float",
    .shape = BatchNormShape,
    .reference = BatchNormReference,
    .accelerated = BatchNormVector,
    .native = "_MklNativeFusedBatchNormV3",
    .native_types = "float bfloat16",
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::BatchNorm,
    .error_bound = ErrorBound::kBatchNorm,
});

// One of TensorFlow's own ops, which its optimizer writes into graphs.
const OpRegistration ex({
    .name = "_FusedBatchNormEx",
    .inputs = "x: T, scale: U, offset: U, mean: U, variance: U, side_input: num_side_inputs * T",
    .outputs = "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, "
               "reserve_space_3: U",
    .attrs = "T: type; U: type; epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
             "num_side_inputs: int = 0; activation_mode: string = Identity; "
             "data_format: string = NHWC; is_training: bool = true",
    .types = "T: half float bfloat16; U: float",
    .shape = BatchNormShape,
    .reference = BatchNormReference,
    .accelerated = BatchNormVector,
    .native = "_MklNativeFusedBatchNormEx",
    .native_types = "float bfloat16",
});

}  // namespace
}  // namespace tenon
