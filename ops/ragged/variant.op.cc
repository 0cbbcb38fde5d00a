// RaggedTensorToVariant, its gradient and RaggedTensorFromVariant: how tf.map_fn passes the rows of
// ragged tensors.
#include "env/status.h"
#include "kernels/ragged/ragged_variant.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ToVariantShape(ShapeContext& c) {
  const int splits = c.num_inputs() - 1;
  for (int i = 0; i < splits; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  if (!c.attrs().Bool("batched_input", false)) {
    c.set_output(0, Shape());
    return absl::OkStatus();
  }
  if (splits == 0) return InvalidArgument("batched_input needs row splits");
  if (c.input(splits).has_rank() && c.input(splits).rank() == 0) {
    return InvalidArgument("rt_dense_values must have an axis");
  }
  const int64_t size = c.input(0).has_rank() ? c.input(0).dim(0) : -1;
  if (size == 0) return InvalidArgument("row splits are empty");
  c.set_output(0, Shape({size < 0 ? -1 : size - 1}));
  return absl::OkStatus();
}

absl::Status FromVariantShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t from, c.attrs().Int("input_ragged_rank"));
  TENON_ASSIGN_OR_RETURN(const int64_t to, c.attrs().Int("output_ragged_rank"));
  if (from < -1 || to < 0) return InvalidArgument("a ragged rank is negative");
  if (c.input(0).has_rank()) {
    const int64_t rank = c.input(0).rank();
    if (to < rank || (from >= 0 && from + rank != to)) {
      return InvalidArgument("encoded_ragged of rank ", rank, " with input_ragged_rank ", from,
                             " and output_ragged_rank ", to);
    }
  }
  for (int i = 0; i < to; ++i) c.set_output(i, Shape({-1}));
  return absl::OkStatus();
}

absl::Status ToVariantGradientShape(ShapeContext& c) {
  // The gradient of a variant that is not of rows comes with a scalar, which says nothing.
  if (c.input(1).has_rank() && c.input(1).rank() > 0) TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  c.set_output(0, Shape::Unknown());  // follows from the gradients if there is one element
  return absl::OkStatus();
}

const OpRegistration to_variant({
    .name = "RaggedTensorToVariant",
    .inputs = "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues",
    .outputs = "encoded_ragged: variant",
    .attrs = "RAGGED_RANK: int; Tvalues: type; Tsplits: type = int64; batched_input: bool",
    .types = "Tsplits: int32 int64",
    .shape = ToVariantShape,
    .reference = RaggedToVariantKernel,
});

const OpRegistration to_variant_gradient({
    .name = "RaggedTensorToVariantGradient",
    .inputs = "encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32",
    .outputs = "dense_values_grad: Tvalues",
    .attrs = "Tvalues: type; Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = ToVariantGradientShape,
    .reference = RaggedToVariantGradientKernel,
});

const OpRegistration from_variant({
    .name = "RaggedTensorFromVariant",
    .inputs = "encoded_ragged: variant",
    .outputs = "output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues",
    .attrs = "input_ragged_rank: int; output_ragged_rank: int; Tvalues: type; "
             "Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = FromVariantShape,
    .reference = RaggedFromVariantKernel,
});

}  // namespace
}  // namespace tenon
