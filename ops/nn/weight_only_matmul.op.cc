// _WeightOnlyMatMul: a product with constant weights that are stored smaller than floats. Only the
// rule FuseWeightOnly makes it.
#include "env/status.h"
#include "kernels/matmul/weight_only.h"
#include "ops/nn/contraction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status WeightOnlyShape(ShapeContext& c) {
  if (!c.input(0).has_rank() || !c.input(1).IsComplete()) {
    c.set_output(0, Shape::Unknown());
    return absl::OkStatus();
  }
  const bool scaled = c.attrs().Int("num_scales", 0) > 0;
  if (scaled && !c.input(2).IsComplete()) return InvalidArgument("scales of unknown shape");
  TENON_ASSIGN_OR_RETURN(const WeightOnly w,
                         DescribeWeightOnly(c.attrs(), c.input(1), scaled ? c.input(2) : Shape()));
  const Shape& a = c.input(0);
  if (a.rank() < 2) return InvalidArgument("input 0 must have rank 2 or more, not ", a.ToString());
  const int64_t k = a[a.rank() - 1];
  if (k > w.rows) {
    return InvalidArgument("inner dimensions differ: ", a.ToString(), " x ", w.rows, " rows");
  }
  if (w.zeros && c.input(3) != c.input(2)) return InvalidArgument("zeros and scales differ");
  Shape::Dims out(a.dims().begin(), a.dims().end());
  out.back() = w.columns;
  return SetProductShape(c, Shape(absl::MakeConstSpan(out)));
}

const OpRegistration weight_only_matmul({
    .name = "_WeightOnlyMatMul",
    .inputs = "a: T, weights: Tw, scales: num_scales * Ts, zeros: num_zeros * Ts, "
              "args: num_args * T",
    .outputs = "product: T",
    .attrs = "T: type = float; Tw: type; Ts: type = float; num_scales: int = 0; "
             "num_zeros: int = 0; num_args: int = 0; bits: int = 8; group: int = 0; "
             "transposed: bool = false; fused_ops: list(string) = []; epsilon: float = 0.0001; "
             "leakyrelu_alpha: float = 0.2",
    .types = "T: float; Tw: bfloat16 half int8 uint8; Ts: bfloat16 half float",
    .shape = WeightOnlyShape,
    .reference = WeightOnlyReference,
    .accelerated = WeightOnlyPanels,
    .native = "_MklNativeWeightOnlyMatMul",
    .native_types = "float",
    .eager = false,
    .internal = true,
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kMatrixProduct,
});

}  // namespace
}  // namespace tenon
