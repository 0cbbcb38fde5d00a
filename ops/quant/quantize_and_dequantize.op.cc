// QuantizeAndDequantize (V1 to V4): rounds floats to values that `num_bits` integers can represent.
// V4Grad passes gradients where the input is in the range.
#include "kernels/quantized/quantize_dequantize.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status RoundTripShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const RoundTripAttrs a, ReadRoundTripAttrs(c.attrs()));
  if (c.num_inputs() >= 3) TENON_RETURN_IF_ERROR(CheckAxisRanges(c, a.axis, 0, {1, 2}));
  if (c.num_inputs() == 4) TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status GradShape(ShapeContext& c) {
  const int64_t axis = c.attrs().Int("axis", -1);
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, axis, 1, {2, 3}));
  TENON_ASSIGN_OR_RETURN(Shape both, MergeShapes(c.input(0), c.input(1)));
  TENON_ASSIGN_OR_RETURN(Shape range, MergeShapes(c.input(2), c.input(3)));
  c.set_output(0, std::move(both));
  c.set_output(1, range);
  c.set_output(2, range);
  return absl::OkStatus();
}

constexpr char kTypes[] = "T: bfloat16 half float double";

constexpr char kV2Attrs[] =
    "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; T: type; "
    "round_mode: string = HALF_TO_EVEN; narrow_range: bool = false; axis: int = -1";

const OpRegistration v1({
    .name = "QuantizeAndDequantize",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; "
             "input_min: float = 0; input_max: float = 0; T: type",
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = QuantizeDequantizeKernel,
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration v2({
    .name = "QuantizeAndDequantizeV2",
    .inputs = "input: T, input_min: T, input_max: T",
    .outputs = "output: T",
    .attrs = kV2Attrs,
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = QuantizeDequantizeKernel,
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration v3({
    .name = "QuantizeAndDequantizeV3",
    .inputs = "input: T, input_min: T, input_max: T, num_bits: int32",
    .outputs = "output: T",
    .attrs = "signed_input: bool = true; range_given: bool = true; T: type; "
             "narrow_range: bool = false; axis: int = -1",
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = QuantizeDequantizeKernel,
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration v4({
    .name = "QuantizeAndDequantizeV4",
    .inputs = "input: T, input_min: T, input_max: T",
    .outputs = "output: T",
    .attrs = kV2Attrs,
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = QuantizeDequantizeKernel,
    .discontinuous = true,
    .on_integers = OnIntegers::kRounds,
});

const OpRegistration v4_grad({
    .name = "QuantizeAndDequantizeV4Grad",
    .inputs = "gradients: T, input: T, input_min: T, input_max: T",
    .outputs = "input_backprop: T, input_min_backprop: T, input_max_backprop: T",
    .attrs = "T: type; axis: int = -1",
    .types = kTypes,
    .shape = GradShape,
    .reference = QuantizeDequantizeGradKernel,
});

}  // namespace
}  // namespace tenon
