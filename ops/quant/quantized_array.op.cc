// QuantizedReshape, QuantizedConcat, QuantizedConcatV2: move elements; if concatenated tensors have
// different ranges, they are converted to a range that includes all of them.
#include "kernels/quantized/array.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// The output shape of the op without ranges, from some of the inputs.
absl::Status ShapeOfPlainOp(ShapeContext& c, absl::string_view op,
                            const std::vector<TensorSpec>& inputs) {
  const OpLookup plain = FindOp(op);
  if (!plain) return Internal("no op ", op);
  ShapeContext inner(c.node(), inputs, 1);
  TENON_RETURN_IF_ERROR(plain.info->row.shape(inner));
  c.set_output(0, inner.outputs()[0]);
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return absl::OkStatus();
}

TensorSpec InputSpec(const ShapeContext& c, int i) { return {c.dtype(i), c.input(i), c.value(i)}; }

absl::Status ReshapeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  return ShapeOfPlainOp(c, "Reshape", {InputSpec(c, 0), InputSpec(c, 1)});
}

template <ConcatAxisAt kAxis>
absl::Status ConcatShape(ShapeContext& c) {
  const ConcatPlaces at = ConcatPlacesOf(kAxis, c.num_inputs());
  if (at.count < 1) return InvalidArgument("nothing to concatenate");
  for (int i = at.ranges(); i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  std::vector<TensorSpec> inputs;
  for (int i = 0; i < at.ranges(); ++i) inputs.push_back(InputSpec(c, i));
  return ShapeOfPlainOp(c, kAxis == ConcatAxisAt::kFirst ? "Concat" : "ConcatV2", inputs);
}

const OpRegistration reshape({
    .name = "QuantizedReshape",
    .inputs = "tensor: T, shape: Tshape, input_min: float, input_max: float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "T: type; Tshape: type = int32",
    .types = "Tshape: int32 int64",
    .shape = ReshapeShape,
    .reference = QuantizedReshapeKernel,
});

const OpRegistration concat({
    .name = "QuantizedConcat",
    .inputs = "concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "N: int; T: type",
    .types = "T: qint8 quint8 qint16 quint16 qint32",
    .shape = ConcatShape<ConcatAxisAt::kFirst>,
    .reference = QuantizedConcatKernel<ConcatAxisAt::kFirst>,
});

const OpRegistration concat_v2({
    .name = "QuantizedConcatV2",
    .inputs = "values: N * T, axis: Tidx, input_mins: N * float, input_maxes: N * float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "N: int; T: type; Tidx: type = int32",
    .types = "T: qint8 quint8 qint16 quint16 qint32; Tidx: int32 int64",
    .shape = ConcatShape<ConcatAxisAt::kBehindValues>,
    .reference = QuantizedConcatKernel<ConcatAxisAt::kBehindValues>,
});

}  // namespace
}  // namespace tenon
