// SparseReduceSum, SparseReduceMax: reduce a sparse tensor to a dense one, in which rows without
// elements are 0; with the suffix Sparse, to a sparse one. SparseSoftmax: over the elements of each
// innermost row.
#include "kernels/sparse/reduce.h"

#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

// The shape of the result; unknown while the values of inputs 2 and 3 are.
absl::StatusOr<Shape> ReducedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  if (c.input(3).has_rank() && c.input(3).rank() > 1) {
    return InvalidArgument("reduction_axes must be a scalar or a vector");
  }
  if (c.value(2) == nullptr || c.value(3) == nullptr) return Shape::Unknown();
  TENON_ASSIGN_OR_RETURN(const Shape in, ShapeOfValue(*c.value(2), MinusOne::kRefused));
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                         ReducedSparseAxes(*c.value(3), in.rank()));
  const bool keep = c.attrs().Bool("keep_dims", false);
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) {
      out.push_back(in.dim(d));
    } else if (keep) {
      out.push_back(1);
    }
  }
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  return out;
}

absl::Status ReduceShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(Shape out, ReducedShape(c));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ReduceToSparseShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape out, ReducedShape(c));
  const int64_t rank = out.has_rank() ? out.rank() : -1;
  c.set_output(0, Shape({-1, rank}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

absl::Status SoftmaxShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  if (c.input(2).has_rank() && c.input(2).dim(0) >= 0 && c.input(2).dim(0) < 2) {
    return InvalidArgument("the tensor must have at least 2 dimensions");
  }
  if (c.value(2) != nullptr) {
    TENON_RETURN_IF_ERROR(ShapeOfValue(*c.value(2), MinusOne::kRefused).status());
  }
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

const OpRegistration sparse_reduce_sum({
    .name = "SparseReduceSum",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
    .outputs = "output: T",
    .attrs = "keep_dims: bool = false; T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "complex64 complex128",
    .shape = ReduceShape,
    .reference = SparseReduceKernel<SparseReduction::kSum>,
});

const OpRegistration sparse_reduce_max({
    .name = "SparseReduceMax",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
    .outputs = "output: T",
    .attrs = "keep_dims: bool = false; T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = ReduceShape,
    .reference = SparseReduceKernel<SparseReduction::kMax>,
});

const OpRegistration sparse_reduce_sum_sparse({
    .name = "SparseReduceSumSparse",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
    .outputs = "output_indices: int64, output_values: T, output_shape: int64",
    .attrs = "keep_dims: bool = false; T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "complex64 complex128",
    .shape = ReduceToSparseShape,
    .reference = SparseReduceToSparseKernel<SparseReduction::kSum>,
});

const OpRegistration sparse_reduce_max_sparse({
    .name = "SparseReduceMaxSparse",
    .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
    .outputs = "output_indices: int64, output_values: T, output_shape: int64",
    .attrs = "keep_dims: bool = false; T: type",
    .types = "T: float double half bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = ReduceToSparseShape,
    .reference = SparseReduceToSparseKernel<SparseReduction::kMax>,
});

const OpRegistration sparse_softmax({
    .name = "SparseSoftmax",
    .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: half float double",
    .shape = SoftmaxShape,
    .reference = SparseSoftmaxKernel,
});

}  // namespace
}  // namespace tenon
