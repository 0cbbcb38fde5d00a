// QuantizedMaxPool, QuantizedAvgPool: pools over 8-bit images [N, H, W, C]; the range stays.
// Averages are truncated towards 0 by the reference kernel, and rounded by the accelerated one.
#include "kernels/quantized/pool.h"
#include "ops/nn/pool_shape.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// The pool itself, without ranges.
absl::Status PoolShape2D(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, 2}));
  const TensorSpec image{c.dtype(0), c.input(0), nullptr};
  ShapeContext pool(c.node(), absl::MakeConstSpan(&image, 1), 1);
  TENON_RETURN_IF_ERROR(PoolShape(pool, 2));
  c.set_output(0, pool.outputs()[0]);
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return absl::OkStatus();
}

constexpr char kInputs[] = "input: T, min_input: float, max_input: float";

constexpr char kOutputs[] = "output: T, min_output: float, max_output: float";

constexpr char kAttrs[] = "T: type; ksize: list(int); strides: list(int); padding: string";

const OpRegistration max_pool({
    .name = "QuantizedMaxPool",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = "T: qint8 quint8",
    .shape = PoolShape2D,
    .reference = QuantizedMaxPoolReference,
    .accelerated = QuantizedPoolOnednn<PoolKind::kMax>,
    .native = "_MklNativeQuantizedMaxPool",
    .native_types = "qint8 quint8",
});

const OpRegistration avg_pool({
    .name = "QuantizedAvgPool",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = "T: qint8 quint8",
    .shape = PoolShape2D,
    .reference = QuantizedAveragePoolReference,
    .accelerated = QuantizedPoolOnednn<PoolKind::kAverage>,
    .native = "_MklNativeQuantizedAvgPool",
    .native_types = "qint8 quint8",
    .rounds_to_integers = true,
});

}  // namespace
}  // namespace tenon
