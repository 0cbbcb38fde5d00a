// Requantize, RequantizationRange, QuantizeDownAndShrinkRange (both in one), and the first two with
// a range per channel.
#include "kernels/quantized/requantize.h"

#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status RequantizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, 2, 3, 4}));
  return UnchangedAndScalarsShape(c);
}

absl::Status RangeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, 2}));
  return ScalarShape(c);
}

absl::Status ShrinkShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, 2}));
  return UnchangedAndScalarsShape(c);
}

absl::Status CheckChannels(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  return CheckAxisRanges(c, 3, 0, {1, 2});
}

absl::Status RequantizePerChannelShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckChannels(c));
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {3, 4}));
  return UnchangedAndScalarsShape(c);
}

absl::Status RangePerChannelShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckChannels(c));
  if (c.input(0).IsComplete() && c.input(0).num_elements() == 0) {
    return InvalidArgument("input must not be empty");
  }
  return ScalarShape(c);
}

const OpRegistration requantize({
    .name = "Requantize",
    .inputs = "input: Tinput, input_min: float, input_max: float, requested_output_min: float, "
              "requested_output_max: float",
    .outputs = "output: out_type, output_min: float, output_max: float",
    .attrs = "Tinput: type; out_type: type",
    .types = "Tinput: qint32; out_type: quint8 qint8",
    .shape = RequantizeShape,
    .reference = RequantizeKernel,
});

const OpRegistration requantization_range({
    .name = "RequantizationRange",
    .inputs = "input: Tinput, input_min: float, input_max: float",
    .outputs = "output_min: float, output_max: float",
    .attrs = "Tinput: type",
    .types = "Tinput: qint32",
    .shape = RangeShape,
    .reference = RequantizationRangeKernel,
});

const OpRegistration quantize_down({
    .name = "QuantizeDownAndShrinkRange",
    .inputs = "input: Tinput, input_min: float, input_max: float",
    .outputs = "output: out_type, output_min: float, output_max: float",
    .attrs = "Tinput: type; out_type: type",
    .types = "Tinput: qint32; out_type: quint8",
    .shape = ShrinkShape,
    .reference = RequantizeAndShrinkKernel,
});

const OpRegistration requantize_per_channel({
    .name = "RequantizePerChannel",
    .inputs = "input: T, input_min: float, input_max: float, requested_output_min: float, "
              "requested_output_max: float",
    .outputs = "output: out_type, output_min: float, output_max: float",
    .attrs = "T: type = qint32; out_type: type = quint8",
    .types = "T: qint32; out_type: quint8 qint8",
    .shape = RequantizePerChannelShape,
    .reference = RequantizePerChannelKernel,
});

const OpRegistration range_per_channel({
    .name = "RequantizationRangePerChannel",
    .inputs = "input: T, input_min: float, input_max: float",
    .outputs = "output_min: float, output_max: float",
    .attrs = "T: type = qint32; clip_value_max: float",
    .types = "T: qint32",
    .shape = RangePerChannelShape,
    .reference = RequantizationRangePerChannelKernel,
});

}  // namespace
}  // namespace tenon
