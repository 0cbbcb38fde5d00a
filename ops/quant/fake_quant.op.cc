// FakeQuantWithMinMaxArgs, …Vars, …VarsPerChannel: rounds floats to integer multiples of a scale,
// with the range nudged so that it has an integer zero point; and their gradients.
#include "kernels/quantized/fake_quant.h"

#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status VarsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, 2}));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

// min and max: one value per slice of the last dimension of input `data`.
absl::Status CheckPerChannel(ShapeContext& c, int data) {
  const Shape& in = c.input(data);
  if (in.has_rank() && in.rank() == 0) return InvalidArgument("inputs must not be a scalar");
  return CheckAxisRanges(c, in.has_rank() ? in.rank() - 1 : 0, in.has_rank() ? data : data + 1,
                         {data + 1, data + 2});
}

absl::Status PerChannelShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckPerChannel(c, 0));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

// ---- gradients ----

absl::Status ArgsGradientShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(Shape both, MergeShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(both));
  return absl::OkStatus();
}

absl::Status VarsGradientShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return ArgsGradientShape(c);
}

absl::Status PerChannelGradientShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckPerChannel(c, 1));
  TENON_ASSIGN_OR_RETURN(const Shape range, MergeShapes(c.input(2), c.input(3)));
  c.set_output(1, range);
  c.set_output(2, range);
  return ArgsGradientShape(c);
}

constexpr char kArgsAttrs[] =
    "min: float = -6; max: float = 6; num_bits: int = 8; narrow_range: bool = false";

constexpr char kVarsAttrs[] = "num_bits: int = 8; narrow_range: bool = false";

constexpr char kGradientOutputs[] =
    "backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float";

const OpRegistration args({
    .name = "FakeQuantWithMinMaxArgs",
    .inputs = "inputs: float",
    .outputs = "outputs: float",
    .attrs = kArgsAttrs,
    .shape = UnchangedShape,
    .reference = FakeQuantArgs,
    .accelerated = FakeQuantArgsVector,
    .native = "_MklNativeFakeQuantWithMinMaxArgs",
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration args_gradient({
    .name = "FakeQuantWithMinMaxArgsGradient",
    .inputs = "gradients: float, inputs: float",
    .outputs = "backprops: float",
    .attrs = kArgsAttrs,
    .shape = ArgsGradientShape,
    .reference = FakeQuantArgsGradient,
});

const OpRegistration vars({
    .name = "FakeQuantWithMinMaxVars",
    .inputs = "inputs: float, min: float, max: float",
    .outputs = "outputs: float",
    .attrs = kVarsAttrs,
    .shape = VarsShape,
    .reference = FakeQuantVars,
    .accelerated = FakeQuantVarsVector,
    .native = "_MklNativeFakeQuantWithMinMaxVars",
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration vars_gradient({
    .name = "FakeQuantWithMinMaxVarsGradient",
    .inputs = "gradients: float, inputs: float, min: float, max: float",
    .outputs = kGradientOutputs,
    .attrs = kVarsAttrs,
    .shape = VarsGradientShape,
    .reference = FakeQuantVarsGradient,
    .error_bound = ErrorBound::kSum,
});

const OpRegistration per_channel({
    .name = "FakeQuantWithMinMaxVarsPerChannel",
    .inputs = "inputs: float, min: float, max: float",
    .outputs = "outputs: float",
    .attrs = kVarsAttrs,
    .shape = PerChannelShape,
    .reference = FakeQuantPerChannel,
    .accelerated = FakeQuantPerChannelVector,
    .native = "_MklNativeFakeQuantWithMinMaxVarsPerChannel",
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration per_channel_gradient({
    .name = "FakeQuantWithMinMaxVarsPerChannelGradient",
    .inputs = "gradients: float, inputs: float, min: float, max: float",
    .outputs = kGradientOutputs,
    .attrs = kVarsAttrs,
    .shape = PerChannelGradientShape,
    .reference = FakeQuantVarsGradient,
    .error_bound = ErrorBound::kSum,
});

}  // namespace
}  // namespace tenon
