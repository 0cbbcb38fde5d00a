// _FusedSoftmax: Softmax(logits * scale + mask + ...) over the last axis; where a condition is
// false, the argument is `masked`. Masks and conditions are broadcast.
#include "env/status.h"
#include "kernels/normalization/softmax.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status FusedSoftmaxShape(ShapeContext& c) {
  Shape shape = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, c.input(i)));
  }
  if (shape.has_rank() && shape.rank() == 0) return InvalidArgument("logits must have an axis");
  c.set_output(0, shape);
  return absl::OkStatus();
}

absl::StatusOr<SoftmaxOptions> OptionsOf(PrepareContext& p) {
  SoftmaxOptions options;
  TENON_ASSIGN_OR_RETURN(options.scale, p.attrs().Float("scale"));
  options.masked = p.attrs().Float("masked", 0);
  options.num_conditions = static_cast<int>(p.attrs().Int("num_conditions", 0));
  return options;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceFusedSoftmax(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const SoftmaxOptions options, OptionsOf(p));
  return MakeReferenceSoftmax(p, options);
}

absl::StatusOr<std::unique_ptr<Kernel>> AcceleratedFusedSoftmax(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const SoftmaxOptions options, OptionsOf(p));
  return MakeVectorSoftmax(p, options);
}

const OpRegistration fused_softmax({
    .name = "_FusedSoftmax",
    .inputs = "logits: T, mask: num_masks * T, condition: num_conditions * bool",
    .outputs = "softmax: T",
    .attrs = "T: type; num_masks: int = 0; num_conditions: int = 0; scale: float = 1;"
             " masked: float = 0",
    .types = "T: half bfloat16 float double",
    .shape = FusedSoftmaxShape,
    .reference = ReferenceFusedSoftmax,
    .accelerated = AcceleratedFusedSoftmax,
    .native = "_MklNativeFusedSoftmax",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::Softmax,
    .error_bound = ErrorBound::kSoftmax,
});

}  // namespace
}  // namespace tenon
