// _ScaledMean: the mean of 8-bit integers in mode SCALED, plus an offset, as float. The reduced
// axes are adjacent (an image's pixels, for example). Sums are integers.
#include "env/status.h"
#include "kernels/quantized/scaled.h"
#include "ops/math/reduction_shape.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status MeanShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  return ReductionShape(c);
}

const OpRegistration mean({
    .name = "_ScaledMean",
    .inputs = "input: T, reduction_indices: Tidx, min_input: float, max_input: float",
    .outputs = "output: float",
    .attrs = "keep_dims: bool = false; T: type; Tidx: type = int32; offset: float = 0.0",
    .types = "T: qint8 quint8; Tidx: int32 int64",
    .shape = MeanShape,
    .reference = ScaledMeanReference,
    .accelerated = ScaledMeanVector,
    .native = "_MklNativeScaledMean",
    .native_types = "qint8 quint8",
    .internal = true,
});

}  // namespace
}  // namespace tenon
