// SparseToDense, SparseTensorDenseMatMul, SparseReshape, SparseFillEmptyRows: ops on tensors given
// by the coordinates of their elements. RaggedFillEmptyRows, whose coordinates are rows alone.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/sparse/rearrange.h"
#include "kernels/sparse/with_dense.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ToDenseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  const Shape& indices = c.input(0);
  const Shape& values = c.input(2);
  if (indices.has_rank() && indices.rank() > 2) {
    return InvalidArgument("sparse_indices must be a scalar, vector or matrix, but have shape ",
                           indices.ToString());
  }
  if (values.has_rank() && values.rank() > 1) {
    return InvalidArgument("sparse_values must be a scalar or a vector");
  }
  if (indices.IsComplete() && values.IsComplete()) {
    const int64_t n = indices.rank() == 0 ? 1 : indices.dim(0);
    if (values.rank() == 1 && values.dim(0) != n) {
      return InvalidArgument(values.dim(0), " values for ", n, " indices");
    }
  }
  if (c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Shape out, ShapeOfValue(*c.value(1), MinusOne::kRefused));
  if (indices.has_rank()) {
    const int64_t depth = indices.rank() == 2 ? indices.dim(1) : 1;
    if (depth >= 0 && depth != out.rank()) {
      return InvalidArgument("indices of ", depth, " columns for shape ", out.ToString());
    }
  }
  c.set_output(0, out);
  return absl::OkStatus();
}

absl::Status SparseMatMulShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 2));
  const bool adjoint_a = c.attrs().Bool("adjoint_a", false);
  const bool adjoint_b = c.attrs().Bool("adjoint_b", false);
  if (c.input(0).has_rank() && c.input(1).has_rank() &&
      !Shape({c.input(1).dim(0), 2}).CompatibleWith(c.input(0))) {
    return InvalidArgument("a_indices of shape ", c.input(0).ToString(), " for values of shape ",
                           c.input(1).ToString());
  }
  if (!c.input(3).has_rank()) return absl::OkStatus();
  Shape out({-1, c.input(3).dim(adjoint_b ? 0 : 1)});
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Shape a, ShapeOfValue(*c.value(2), MinusOne::kRefused));
    if (a.rank() != 2) return InvalidArgument("a_shape must have 2 elements");
    const int64_t inner = a.dim(adjoint_a ? 0 : 1), rows = c.input(3).dim(adjoint_b ? 1 : 0);
    if (rows >= 0 && rows != inner) {
      return InvalidArgument("a matrix of ", inner, " columns times one of ", rows, " rows");
    }
    out.set_dim(0, a.dim(adjoint_a ? 1 : 0));
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status SparseReshapeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  const Shape& indices = c.input(0);
  if (indices.has_rank() && c.input(1).has_rank() &&
      !Shape({indices.dim(1)}).CompatibleWith(c.input(1))) {
    return InvalidArgument("indices of shape ", indices.ToString(), " for a shape of ",
                           c.input(1).ToString(), " elements");
  }
  const int64_t rank = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
  c.set_output(0, Shape({indices.has_rank() ? indices.dim(0) : -1, rank}));
  c.set_output(1, Shape({rank}));
  return absl::OkStatus();
}

absl::Status FillEmptyRowsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  const Shape& indices = c.input(0);
  const int64_t n = indices.has_rank() ? indices.dim(0) : -1;
  const int64_t rank = indices.has_rank() ? indices.dim(1) : -1;
  if (!Shape({n}).CompatibleWith(c.input(1)) || !Shape({rank}).CompatibleWith(c.input(2))) {
    return InvalidArgument("indices of shape ", indices.ToString(), " for values of shape ",
                           c.input(1).ToString(), " and a dense_shape of ", c.input(2).ToString());
  }
  if (rank == 0) return InvalidArgument("dense_shape must not be empty");
  c.set_output(0, Shape({-1, rank}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({-1}));
  c.set_output(3, Shape({n}));
  return absl::OkStatus();
}

absl::Status FillEmptyRaggedRowsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  if (!c.input(0).CompatibleWith(c.input(1))) {
    return InvalidArgument("value_rowids of shape ", c.input(0).ToString(), " for values of shape ",
                           c.input(1).ToString());
  }
  for (int i = 1; i < 3; ++i) c.set_output(i, Shape({-1}));
  c.set_output(3, c.input(0));
  return absl::OkStatus();
}

const OpRegistration sparse_to_dense_op({
    .name = "SparseToDense",
    .inputs =
        "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T",
    .outputs = "dense: T",
    .attrs = "validate_indices: bool = true; T: type; Tindices: type",
    .types = "Tindices: int32 int64",
    .shape = ToDenseShape,
    .reference = SparseToDenseKernel,
});

const OpRegistration sparse_tensor_dense_mat_mul_op({
    .name = "SparseTensorDenseMatMul",
    .inputs = "a_indices: Tindices, a_values: T, a_shape: int64, b: T",
    .outputs = "product: T",
    .attrs = "T: type; Tindices: type = int64; adjoint_a: bool = false; adjoint_b: bool = false",
    .types = "Tindices: int32 int64",
    .shape = SparseMatMulShape,
    .reference = SparseMatMulKernel,
    .error_bound = ErrorBound::kSparseProduct,
});

const OpRegistration sparse_reshape_op({
    .name = "SparseReshape",
    .inputs = "input_indices: int64, input_shape: int64, new_shape: int64",
    .outputs = "output_indices: int64, output_shape: int64",
    .shape = SparseReshapeShape,
    .reference = SparseReshapeKernel,
});

const OpRegistration sparse_fill_empty_rows_op({
    .name = "SparseFillEmptyRows",
    .inputs = "indices: int64, values: T, dense_shape: int64, default_value: T",
    .outputs = "output_indices: int64, output_values: T, empty_row_indicator: bool, "
               "reverse_index_map: int64",
    .attrs = "T: type",
    .shape = FillEmptyRowsShape,
    .reference = FillEmptyRowsKernel,
});

const OpRegistration ragged_fill_empty_rows_op({
    .name = "RaggedFillEmptyRows",
    .inputs = "value_rowids: int64, values: T, nrows: int64, default_value: T",
    .outputs = "output_value_rowids: int64, output_values: T, empty_row_indicator: bool, "
               "reverse_index_map: int64",
    .attrs = "T: type",
    .shape = FillEmptyRaggedRowsShape,
    .reference = FillEmptyRowsKernel,
});

}  // namespace
}  // namespace tenon
