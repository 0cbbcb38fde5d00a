// QuantizeV2: converts floats to integers with a given range, for the whole tensor or per slice
// along an axis. MIN_COMBINED and MIN_FIRST map min to the lowest integer; SCALED maps 0 to 0.
#include "kernels/quantized/quantize.h"

#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status QuantizeShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const QuantizeAttrs a, ReadQuantizeAttrs(c.attrs()));
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, a.axis, 0, {1, 2}));
  c.set_output(0, c.input(0));
  Shape range;
  if (a.axis >= 0) {
    const Shape& in = c.input(0);
    const int64_t slices = in.has_rank() ? in[static_cast<int>(a.axis)] : -1;
    if (slices < 0) range = Shape::Unknown();
    // A single slice has scalars, like a single range for everything.
    if (slices >= 0 && slices != 1) range = Shape({slices});
    if (slices > 1 && a.mode == RangeMode::kMinFirst) {
      return InvalidArgument("mode MIN_FIRST does not support an axis");
    }
  }
  c.set_output(1, range);
  c.set_output(2, range);
  return absl::OkStatus();
}

const OpRegistration quantize_v2({
    .name = "QuantizeV2",
    .inputs = "input: float, min_range: float, max_range: float",
    .outputs = "output: T, output_min: float, output_max: float",
    .attrs = "T: type; mode: string = MIN_COMBINED; round_mode: string = HALF_AWAY_FROM_ZERO; "
             "narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.01",
    .types = "T: qint8 quint8 qint32 qint16 quint16",
    .shape = QuantizeShape,
    .reference = QuantizeReference,
    .accelerated = QuantizeVector,
    .native = "_MklNativeQuantizeV2",
    .native_types = "qint8 quint8",
    .discontinuous = true,
    .batch_axis = batch_axis::Quantize,
    .range_of_ranges = true,
});

}  // namespace
}  // namespace tenon
