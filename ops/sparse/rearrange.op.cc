// SparseReorder, SparseConcat, SparseSlice: ops that only move a sparse tensor's elements.
#include "kernels/sparse/rearrange.h"

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status ReorderShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(1));
  return absl::OkStatus();
}

absl::Status ConcatShape(ShapeContext& c) {
  const int count = c.num_inputs() / 3;
  if (count < 2) return InvalidArgument("at least two tensors are needed, not ", count);
  int64_t rank = -1;
  for (int i = 0; i < count; ++i) {
    TENON_RETURN_IF_ERROR(ExpectSparse(c, i, count));
    for (int64_t have : {c.input(i).has_rank() ? c.input(i).dim(1) : -1,
                         c.input(2 * count + i).has_rank() ? c.input(2 * count + i).dim(0) : -1}) {
      if (have < 0) continue;
      if (rank >= 0 && have != rank) {
        return InvalidArgument("tensors of ranks ", rank, " and ", have);
      }
      rank = have;
    }
  }
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.attrs().Int("concat_dim"));
  if (rank >= 0 && (axis < -rank || axis >= rank)) {
    return InvalidArgument("concat_dim ", axis, " for tensors of rank ", rank);
  }
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t n = c.input(count + i).has_rank() ? c.input(count + i).dim(0) : -1;
    total = n < 0 || total < 0 ? -1 : total + n;
  }
  c.set_output(0, Shape({total, rank}));
  c.set_output(1, Shape({total}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

absl::Status SliceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape& shape = c.input(2);
  for (int i : {3, 4}) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (!shape.CompatibleWith(c.input(i))) {
      return InvalidArgument("start and size must have shape ", shape.ToString());
    }
  }
  c.set_output(0, Shape({-1, shape.has_rank() ? shape.dim(0) : -1}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, shape);
  return absl::OkStatus();
}

const OpRegistration sparse_reorder({
    .name = "SparseReorder",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64",
    .outputs = "output_indices: int64, output_values: T",
    .attrs = "T: type",
    .shape = ReorderShape,
    .reference = SparseReorderKernel,
});

const OpRegistration sparse_concat({
    .name = "SparseConcat",
    .inputs = "indices: N * int64, values: N * T, shapes: N * int64",
    .outputs = "output_indices: int64, output_values: T, output_shape: int64",
    .attrs = "concat_dim: int; N: int; T: type",
    .shape = ConcatShape,
    .reference = SparseConcatKernel,
});

const OpRegistration sparse_slice({
    .name = "SparseSlice",
    .inputs = "indices: int64, values: T, shape: int64, start: int64, size: int64",
    .outputs = "output_indices: int64, output_values: T, output_shape: int64",
    .attrs = "T: type",
    .shape = SliceShape,
    .reference = SparseSliceKernel,
});

}  // namespace
}  // namespace tenon
