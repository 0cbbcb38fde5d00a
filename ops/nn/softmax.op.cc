// Softmax and LogSoftmax over the last axis, for any rank of at least 1. A NaN makes its whole row
// NaN.
#include "kernels/normalization/softmax.h"

#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SoftmaxShape(ShapeContext& c) {
  const Shape& logits = c.input(0);
  if (logits.has_rank() && logits.rank() < 1) {
    return InvalidArgument("logits must have >= 1 dimension, got a scalar");
  }
  c.set_output(0, logits);
  return absl::OkStatus();
}

template <SoftmaxKind kKind>
absl::StatusOr<std::unique_ptr<Kernel>> ReferenceSoftmax(PrepareContext& p) {
  return MakeReferenceSoftmax(p, {.kind = kKind});
}

template <SoftmaxKind kKind>
absl::StatusOr<std::unique_ptr<Kernel>> AcceleratedSoftmax(PrepareContext& p) {
  return MakeVectorSoftmax(p, {.kind = kKind});
}

const OpRegistration softmax({
    .name = "Softmax",
    .inputs = "logits: T",
    .outputs = "softmax: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = SoftmaxShape,
    .reference = ReferenceSoftmax<SoftmaxKind::kSoftmax>,
    .accelerated = AcceleratedSoftmax<SoftmaxKind::kSoftmax>,
    .native = "_MklNativeSoftmax",
    .native_types = "float bfloat16 double",
    .sign = Sign::kNeverNegative,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::Softmax,
    .error_bound = ErrorBound::kSoftmax,
});

const OpRegistration log_softmax({
    .name = "LogSoftmax",
    .inputs = "logits: T",
    .outputs = "logsoftmax: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = SoftmaxShape,
    .reference = ReferenceSoftmax<SoftmaxKind::kLogSoftmax>,
    .accelerated = AcceleratedSoftmax<SoftmaxKind::kLogSoftmax>,
    .native = "_MklNativeLogSoftmax",
    .native_types = "float bfloat16 double",
    .batch_axis = batch_axis::Softmax,
    .error_bound = ErrorBound::kLogSoftmax,
});

}  // namespace
}  // namespace tenon
