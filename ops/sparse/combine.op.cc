// SparseAdd, SparseSparseMaximum, SparseSparseMinimum: combine two sparse tensors with the same
// shape where either has an element; a missing one counts as 0.
#include "kernels/sparse/combine.h"

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status CombineShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 3));
  if (!c.input(2).CompatibleWith(c.input(5))) {
    return InvalidArgument("tensors of different ranks");
  }
  if (c.num_inputs() > 6) TENON_RETURN_IF_ERROR(c.ExpectRank(6, 0));
  const Shape& shape = c.input(2);
  c.set_output(0, Shape({-1, shape.has_rank() ? shape.dim(0) : -1}));
  c.set_output(1, Shape({-1}));
  if (c.num_outputs() > 2) c.set_output(2, shape);
  return absl::OkStatus();
}

const OpRegistration sparse_add({
    .name = "SparseAdd",
    .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
              "b_shape: int64, thresh: Treal",
    .outputs = "sum_indices: int64, sum_values: T, sum_shape: int64",
    .attrs = "T: type; Treal: type",
    .types = "T: float double int64 int32 int16 int8 complex64 complex128; "
             "Treal: float double int64 int32 int16 int8",
    .shape = CombineShape,
    .reference = SparseAddKernel,
});

const OpRegistration sparse_sparse_maximum({
    .name = "SparseSparseMaximum",
    .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
              "b_shape: int64",
    .outputs = "output_indices: int64, output_values: T",
    .attrs = "T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = CombineShape,
    .reference = SparseExtremumKernel<Extremum::kMaximum>,
});

const OpRegistration sparse_sparse_minimum({
    .name = "SparseSparseMinimum",
    .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
              "b_shape: int64",
    .outputs = "output_indices: int64, output_values: T",
    .attrs = "T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = CombineShape,
    .reference = SparseExtremumKernel<Extremum::kMinimum>,
});

}  // namespace
}  // namespace tenon
