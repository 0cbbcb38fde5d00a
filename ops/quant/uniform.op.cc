// UniformQuantize, UniformDequantize, UniformRequantize, UniformQuantizedClipByValue and
// UniformQuantizedAdd: real = (integer - zero point) * scale, per tensor or per slice along an
// axis.
#include "kernels/quantized/uniform.h"

#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// Input 0, with parameters of its own in the inputs after it.
absl::Status UnchangedPerAxisShape(ShapeContext& c) {
  const int64_t axis = c.attrs().Int("quantization_axis", -1);
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, axis, 0, {1, 2}));
  if (c.num_inputs() == 5) TENON_RETURN_IF_ERROR(CheckAxisRanges(c, axis, 0, {3, 4}));
  return UnchangedShape(c);
}

absl::Status UniformRequantizeShape(ShapeContext& c) {
  const int64_t from = c.attrs().Int("input_quantization_axis", -1);
  const int64_t to = c.attrs().Int("output_quantization_axis", -1);
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, from, 0, {1, 2}));
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, to, 0, {3, 4}));
  if (from >= 0 && to >= 0 && from != to) {
    return InvalidArgument("input_quantization_axis ", from, " and output_quantization_axis ", to,
                           " must be the same");
  }
  return UnchangedShape(c);
}

// Checks the axes of operand `input` and of a result of shape `out`, both of known rank.
absl::Status CheckOperandAxis(const ShapeContext& c, int input, int64_t axis, const Shape& out,
                              int64_t out_axis) {
  if (out_axis < 0) return absl::OkStatus();
  const int rank = c.input(input).rank();
  if (axis >= 0) {
    if (rank - axis == out.rank() - out_axis) return absl::OkStatus();
    return InvalidArgument("input ", input, " has scales along axis ", axis,
                           ", which is not the output's axis ", out_axis);
  }
  // TensorFlow takes one scale for lhs together with several for the output for an error.
  const int64_t scales = out.dim(static_cast<int>(out_axis));
  if (scales == 1 || scales < 0 || (input == 1 && rank == out.rank())) return absl::OkStatus();
  return InvalidArgument("input ", input, " must have a scale for each of the output's ", scales,
                         " scales");
}

absl::Status UniformAddShape(ShapeContext& c) {
  const int64_t lhs = c.attrs().Int("lhs_quantization_axis", -1);
  const int64_t rhs = c.attrs().Int("rhs_quantization_axis", -1);
  const int64_t out = c.attrs().Int("output_quantization_axis", -1);
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, lhs, 0, {2, 3}));
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, rhs, 1, {4, 5}));
  TENON_RETURN_IF_ERROR(BroadcastBinaryShape(c));
  const Shape& shape = c.outputs()[0];
  TENON_RETURN_IF_ERROR(CheckScales(c, shape, out, {6, 7}));
  if (!c.input(0).has_rank() || !c.input(1).has_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(CheckOperandAxis(c, 0, lhs, shape, out));
  return CheckOperandAxis(c, 1, rhs, shape, out);
}

const OpRegistration uniform_quantize({
    .name = "UniformQuantize",
    .inputs = "input: Tin, scales: float, zero_points: int32",
    .outputs = "output: Tout",
    .attrs = "Tin: type; Tout: type; quantization_axis: int = -1; quantization_min_val: int; "
             "quantization_max_val: int",
    .types = "Tin: float; Tout: qint8 quint8 qint32",
    .shape = UnchangedPerAxisShape,
    .reference = UniformQuantizeKernel,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration uniform_dequantize({
    .name = "UniformDequantize",
    .inputs = "input: Tin, scales: float, zero_points: int32",
    .outputs = "output: Tout",
    .attrs = "Tin: type; Tout: type; quantization_axis: int = -1; quantization_min_val: int; "
             "quantization_max_val: int",
    .types = "Tin: qint8 quint8 qint32; Tout: float",
    .shape = UnchangedPerAxisShape,
    .reference = UniformDequantizeKernel,
    .error_bound = ErrorBound::kOneRounding,
});

const OpRegistration uniform_requantize({
    .name = "UniformRequantize",
    .inputs = "input: Tin, input_scales: float, input_zero_points: int32, output_scales: float, "
              "output_zero_points: int32",
    .outputs = "output: Tout",
    .attrs = "Tin: type; Tout: type; input_quantization_axis: int = -1; "
             "input_quantization_min_val: int; input_quantization_max_val: int; "
             "output_quantization_axis: int = -1; output_quantization_min_val: int; "
             "output_quantization_max_val: int",
    .types = "Tin: qint8 qint32; Tout: qint8",
    .shape = UniformRequantizeShape,
    .reference = UniformRequantizeKernel,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration uniform_clip({
    .name = "UniformQuantizedClipByValue",
    .inputs = "operand: T, min: T, max: T, scales: float, zero_points: int32",
    .outputs = "output: T",
    .attrs = "T: type; quantization_axis: int = -1; quantization_min_val: int; "
             "quantization_max_val: int",
    .types = "T: qint32",
    .shape = UnchangedPerAxisShape,
    .reference = UniformClipKernel,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration uniform_add({
    .name = "UniformQuantizedAdd",
    .inputs = "lhs: T, rhs: T, lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, "
              "rhs_zero_points: int32, output_scales: float, output_zero_points: int32",
    .outputs = "output: T",
    .attrs = "lhs_quantization_axis: int = -1; lhs_quantization_min_val: int; "
             "lhs_quantization_max_val: int; rhs_quantization_axis: int = -1; "
             "rhs_quantization_min_val: int; rhs_quantization_max_val: int; "
             "output_quantization_axis: int = -1; output_quantization_min_val: int; "
             "output_quantization_max_val: int; T: type",
    .types = "T: qint32",
    .shape = UniformAddShape,
    .reference = UniformAddKernel,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
