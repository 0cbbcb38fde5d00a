// Sparse matrices by rows (CSR) as variants: conversions, products, sums, softmax.
#include "kernels/sparse/csr_convert.h"
#include "kernels/sparse/csr_math.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Indices [n, 2 or 3] of the elements of a matrix, or a batch of them, of that rank.
absl::Status ExpectIndices(ShapeContext& c, int input, int64_t rank) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(input, 2));
  if (rank >= 0 && rank != 2 && rank != 3) {
    return InvalidArgument("a sparse matrix, or a batch of them, of rank ", rank);
  }
  if (!c.input(input).CompatibleWith(Shape({-1, rank}))) {
    return InvalidArgument("indices of shape ", c.input(input).ToString(), " for rank ", rank);
  }
  return absl::OkStatus();
}

absl::Status CsrFromSparseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  const int64_t rank = c.input(2).has_rank()   ? c.input(2).dim(0)
                       : c.input(0).has_rank() ? c.input(0).dim(1)
                                               : -1;
  TENON_RETURN_IF_ERROR(ExpectIndices(c, 0, rank));
  if (c.input(0).has_rank() && !Shape({c.input(0).dim(0)}).CompatibleWith(c.input(1))) {
    return InvalidArgument("values of shape ", c.input(1).ToString(), " for indices of shape ",
                           c.input(0).ToString());
  }
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status CsrFromDenseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectIndices(c, 1, c.input(0).has_rank() ? c.input(0).rank() : -1));
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status CsrZerosShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  const int64_t rank = c.input(0).has_rank() ? c.input(0).dim(0) : -1;
  if (rank >= 0 && rank != 2 && rank != 3) return InvalidArgument("a sparse matrix of rank ", rank);
  c.set_output(0, Shape());
  return absl::OkStatus();
}

// Every input is a scalar. Outputs have unknown shapes: a variant's matrix is known at Run only.
absl::Status ExpectScalarInputs(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return absl::OkStatus();
}

absl::Status CsrToSparseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalarInputs(c));
  c.set_output(0, Shape({-1, -1}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({-1}));
  return absl::OkStatus();
}

absl::Status CsrComponentsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalarInputs(c));
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape({-1}));
  return absl::OkStatus();
}

absl::Status CsrShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalarInputs(c));
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status CsrTimesDenseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckTransposes(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  if (!c.input(1).has_rank()) return absl::OkStatus();
  const int rank = c.input(1).rank();
  if (rank != 2 && rank != 3) {
    return InvalidArgument("b must be a matrix or a batch of them, but has shape ",
                           c.input(1).ToString());
  }
  c.set_output(0, Shape::UnknownOfRank(rank));
  return absl::OkStatus();
}

absl::Status CsrTimesCsrShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckTransposes(c.attrs()));
  return CsrShape(c);
}

absl::Status CsrScaleShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  if (c.input(1).has_rank() && c.input(1).rank() != 0 && c.input(1).rank() != 3) {
    return InvalidArgument("b must be a scalar or [batches, 1, 1], but has shape ",
                           c.input(1).ToString());
  }
  c.set_output(0, Shape());
  return absl::OkStatus();
}

const OpRegistration csr_from_sparse_op({
    .name = "SparseTensorToCSRSparseMatrix",
    .inputs = "indices: int64, values: T, dense_shape: int64",
    .outputs = "sparse_matrix: variant",
    .attrs = "T: type",
    .types = "T: float double complex64 complex128",
    .shape = CsrFromSparseShape,
    .reference = CsrFromSparseKernel,
});

const OpRegistration csr_to_sparse_op({
    .name = "CSRSparseMatrixToSparseTensor",
    .inputs = "sparse_matrix: variant",
    .outputs = "indices: int64, values: type, dense_shape: int64",
    .attrs = "type: type",
    .types = "type: float double complex64 complex128",
    .shape = CsrToSparseShape,
    .reference = CsrToSparseKernel,
});

const OpRegistration csr_from_dense_op({
    .name = "DenseToCSRSparseMatrix",
    .inputs = "dense_input: T, indices: int64",
    .outputs = "sparse_output: variant",
    .attrs = "T: type",
    .types = "T: float double complex64 complex128",
    .shape = CsrFromDenseShape,
    .reference = CsrFromDenseKernel,
});

const OpRegistration csr_to_dense_op({
    .name = "CSRSparseMatrixToDense",
    .inputs = "sparse_input: variant",
    .outputs = "dense_output: type",
    .attrs = "type: type",
    .types = "type: float double complex64 complex128",
    .shape = ExpectScalarInputs,
    .reference = CsrToDenseKernel,
});

const OpRegistration csr_components_op({
    .name = "CSRSparseMatrixComponents",
    .inputs = "csr_sparse_matrix: variant, index: int32",
    .outputs = "row_ptrs: int32, col_inds: int32, values: type",
    .attrs = "type: type",
    .types = "type: float double complex64 complex128",
    .shape = CsrComponentsShape,
    .reference = CsrComponentsKernel,
});

const OpRegistration csr_count_op({
    .name = "SparseMatrixNNZ",
    .inputs = "sparse_matrix: variant",
    .outputs = "nnz: int32",
    .shape = ExpectScalarInputs,
    .reference = CsrCountKernel,
});

const OpRegistration csr_zeros_op({
    .name = "SparseMatrixZeros",
    .inputs = "dense_shape: int64",
    .outputs = "sparse_matrix: variant",
    .attrs = "type: type",
    .types = "type: float double complex64 complex128",
    .shape = CsrZerosShape,
    .reference = CsrZerosKernel,
});

const OpRegistration csr_times_dense_op({
    .name = "SparseMatrixMatMul",
    .inputs = "a: variant, b: T",
    .outputs = "output: T",
    .attrs = "T: type; transpose_a: bool = false; transpose_b: bool = false; "
             "adjoint_a: bool = false; adjoint_b: bool = false; "
             "transpose_output: bool = false; conjugate_output: bool = false",
    .types = "T: float double complex64 complex128",
    .shape = CsrTimesDenseShape,
    .reference = CsrTimesDenseKernel,
});

const OpRegistration csr_times_sparse_op({
    .name = "SparseMatrixSparseMatMul",
    .inputs = "a: variant, b: variant",
    .outputs = "c: variant",
    .attrs = "type: type; transpose_a: bool = false; transpose_b: bool = false; "
             "adjoint_a: bool = false; adjoint_b: bool = false",
    .types = "type: float double complex64 complex128",
    .shape = CsrTimesCsrShape,
    .reference = CsrTimesCsrKernel,
});

const OpRegistration csr_transpose_op({
    .name = "SparseMatrixTranspose",
    .inputs = "input: variant",
    .outputs = "output: variant",
    .attrs = "conjugate: bool = false; type: type",
    .types = "type: float double complex64 complex128",
    .shape = CsrShape,
    .reference = CsrTransposeKernel,
});

const OpRegistration csr_add_op({
    .name = "SparseMatrixAdd",
    .inputs = "a: variant, b: variant, alpha: T, beta: T",
    .outputs = "c: variant",
    .attrs = "T: type",
    .types = "T: float double complex64 complex128",
    .shape = CsrShape,
    .reference = CsrAddKernel,
});

const OpRegistration csr_scale_op({
    .name = "SparseMatrixMul",
    .inputs = "a: variant, b: T",
    .outputs = "output: variant",
    .attrs = "T: type",
    .types = "T: float double complex64 complex128",
    .shape = CsrScaleShape,
    .reference = CsrScaleKernel,
});

const OpRegistration csr_softmax_op({
    .name = "SparseMatrixSoftmax",
    .inputs = "logits: variant",
    .outputs = "softmax: variant",
    .attrs = "type: type",
    .types = "type: float double",
    .shape = CsrShape,
    .reference = CsrSoftmaxKernel,
});

const OpRegistration csr_softmax_grad_op({
    .name = "SparseMatrixSoftmaxGrad",
    .inputs = "softmax: variant, grad_softmax: variant",
    .outputs = "gradient: variant",
    .attrs = "type: type",
    .types = "type: float double",
    .shape = CsrShape,
    .reference = CsrSoftmaxGradKernel,
});

}  // namespace
}  // namespace tenon
