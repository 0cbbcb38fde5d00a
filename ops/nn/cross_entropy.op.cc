// SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: for each row
//
//   loss = sum(labels * (log(sum(exp(features))) - features)), backprop = softmax(features) -
//   labels
//
// where sparse labels are class indices. The dense form broadcasts features and labels together to
// [batch, classes].
#include "kernels/reduction/cross_entropy.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DenseShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(c.input(0), c.input(1)));
  if (shape.has_rank() && shape.rank() != 2) {
    return InvalidArgument("logits and labels must be broadcastable to a matrix, but they are ",
                           c.input(0).ToString(), " and ", c.input(1).ToString());
  }
  if (!shape.has_rank()) shape = Shape::UnknownOfRank(2);
  c.set_output(0, Shape({shape[0]}));
  c.set_output(1, shape);
  return absl::OkStatus();
}

absl::Status SparseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  Shape features = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(2);
  const int64_t labels = c.input(1).has_rank() ? c.input(1)[0] : -1;
  if (features[0] >= 0 && labels >= 0 && features[0] != labels) {
    return InvalidArgument("logits and labels must have one first dimension, but they are ",
                           c.input(0).ToString(), " and ", c.input(1).ToString());
  }
  if (features[1] == 0) return InvalidArgument("there must be at least one class");
  if (features[0] < 0) features.set_dim(0, labels);
  c.set_output(0, Shape({features[0]}));
  c.set_output(1, features);
  return absl::OkStatus();
}

const OpRegistration dense({
    .name = "SoftmaxCrossEntropyWithLogits",
    .inputs = "features: T, labels: T",
    .outputs = "loss: T, backprop: T",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double",
    .shape = DenseShape,
    .reference = CrossEntropyReference,
    .accelerated = CrossEntropyVector,
    .native = "_MklNativeSoftmaxCrossEntropyWithLogits",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kCrossEntropy,
});

const OpRegistration sparse({
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .inputs = "features: T, labels: Tlabels",
    .outputs = "loss: T, backprop: T",
    .attrs = "T: type; Tlabels: type = int64",
    .types = "T: half bfloat16 float double; Tlabels: int32 int64",
    .shape = SparseShape,
    .reference = CrossEntropyReference,
    .accelerated = CrossEntropyVector,
    .native = "_MklNativeSparseSoftmaxCrossEntropyWithLogits",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kSparseCrossEntropy,
});

}  // namespace
}  // namespace tenon
