// _ScaledAdd: the sum of two tensors of 8-bit integers as 8-bit integers, each in mode SCALED with
// its own range: y = round(relu(a * a's scale + b * b's scale + offset) / y's scale), saturated.
// `zero` is the result's zero point, at which relu clips (the caller includes it in `offset`).
#include <algorithm>

#include "env/status.h"
#include "kernels/quantized/scaled.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status AddShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3, 4, 5, 6, 7}));
  absl::StatusOr<Shape> merged = MergeShapes(c.input(0), c.input(1));
  if (!merged.ok()) return Annotate(merged.status(), "a and b");
  c.set_output(0, *std::move(merged));
  return absl::OkStatus();
}

const OpRegistration scaled_add({
    .name = "_ScaledAdd",
    .inputs = "a: Ta, b: Tb, min_a: float, max_a: float, min_b: float, max_b: float, "
              "min_y: float, max_y: float",
    .outputs = "y: T",
    .attrs = "Ta: type; Tb: type; T: type; relu: bool = false; offset: float = 0.0; "
             "zero: int = 0",
    .types = "Ta: qint8 quint8; Tb: qint8 quint8; T: qint8 quint8",
    .shape = AddShape,
    .reference = ScaledAddReference,
    .accelerated = ScaledAddVector,
    .native = "_MklNativeScaledAdd",
    .native_types = "qint8 quint8",
    .internal = true,
});

}  // namespace
}  // namespace tenon
