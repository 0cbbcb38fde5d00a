// QuantizedAdd, QuantizedMul, QuantizedBiasAdd: 8-bit operands with different ranges, 32-bit
// results.
#include "kernels/quantized/binary.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status BroadcastShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3, 4, 5}));
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return BroadcastBinaryShape(c);
}

absl::Status BiasAddShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3, 4, 5}));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& in = c.input(0);
  if (in.has_rank() && in.rank() < 2) {
    return InvalidArgument("input must have at least 2 dimensions, has shape ", in.ToString());
  }
  if (in.has_rank() && c.input(1).has_rank()) {
    const int64_t channels = in[in.rank() - 1], biases = c.input(1)[0];
    if (channels >= 0 && biases >= 0 && channels != biases) {
      return InvalidArgument("there are ", biases, " biases for ", channels, " channels");
    }
  }
  return UnchangedAndScalarsShape(c);
}

constexpr char kBinaryInputs[] =
    "x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float";

constexpr char kBinaryTypes[] = "T1: quint8; T2: quint8; Toutput: qint32";

const OpRegistration add({
    .name = "QuantizedAdd",
    .inputs = kBinaryInputs,
    .outputs = "z: Toutput, min_z: float, max_z: float",
    .attrs = "T1: type; T2: type; Toutput: type = qint32",
    .types = kBinaryTypes,
    .shape = BroadcastShape,
    .reference = QuantizedAddKernel,
});

const OpRegistration mul({
    .name = "QuantizedMul",
    .inputs = kBinaryInputs,
    .outputs = "z: Toutput, min_z: float, max_z: float",
    .attrs = "T1: type; T2: type; Toutput: type = qint32",
    .types = kBinaryTypes,
    .shape = BroadcastShape,
    .reference = QuantizedMulKernel,
});

const OpRegistration bias_add({
    .name = "QuantizedBiasAdd",
    .inputs = "input: T1, bias: T2, min_input: float, max_input: float, min_bias: float, "
              "max_bias: float",
    .outputs = "output: out_type, min_out: float, max_out: float",
    .attrs = "T1: type; T2: type; out_type: type",
    .types = "T1: qint8 quint8; T2: qint8 quint8; out_type: qint32",
    .shape = BiasAddShape,
    .reference = QuantizedBiasAddKernel,
});

}  // namespace
}  // namespace tenon
