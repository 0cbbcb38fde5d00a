// Dequantize: converts integers with a given range back to float or bfloat16.
#include "kernels/quantized/dequantize.h"

#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status DequantizeShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const DequantizeAttrs a, ReadDequantizeAttrs(c.attrs()));
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, a.axis, 0, {1, 2}));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

const OpRegistration dequantize({
    .name = "Dequantize",
    .inputs = "input: T, min_range: float, max_range: float",
    .outputs = "output: dtype",
    .attrs = "T: type; mode: string = MIN_COMBINED; narrow_range: bool = false; axis: int = -1; "
             "dtype: type = float",
    .types = "T: qint8 quint8 qint32 qint16 quint16; dtype: float bfloat16",
    .shape = DequantizeShape,
    .reference = DequantizeReference,
    .accelerated = DequantizeVector,
    .native = "_MklNativeDequantize",
    .native_types = "qint8 quint8",
    .precision = PrecisionRole::kAsStated,
    .batch_axis = batch_axis::Quantize,
});

}  // namespace
}  // namespace tenon
