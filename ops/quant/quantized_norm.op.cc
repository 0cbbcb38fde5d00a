// QuantizedInstanceNorm: normalizes each channel of each image [N, H, W, C] to mean 0 and variance
// 1, and quantizes it with the range of the result, or a given one.
#include "kernels/quantized/instance_norm.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status NormShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ReadInstanceNormAttrs(c.attrs()).status());
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, 2}));
  return UnchangedAndScalarsShape(c);
}

const OpRegistration instance_norm({
    .name = "QuantizedInstanceNorm",
    .inputs = "x: T, x_min: float, x_max: float",
    .outputs = "y: T, y_min: float, y_max: float",
    .attrs = "T: type; output_range_given: bool = false; given_y_min: float = 0; "
             "given_y_max: float = 0; variance_epsilon: float = 1e-05; "
             "min_separation: float = 0.001",
    .types = "T: quint8",
    .shape = NormShape,
    .reference = QuantizedInstanceNormKernel,
    .rounds_to_integers = true,
});

}  // namespace
}  // namespace tenon
