// SparseTensorDenseAdd; SparseDenseCwiseAdd, SparseDenseCwiseMul, SparseDenseCwiseDiv: combine a
// sparse tensor's elements with those of a dense one, which the last three broadcast.
#include "kernels/sparse/with_dense.h"

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

constexpr char kNumberTypes[] =
    "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half uint32 "
    "uint64";

absl::Status AddShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape &shape = c.input(2), &dense = c.input(3);
  if (shape.has_rank() && dense.has_rank() && shape.dim(0) >= 0 && shape.dim(0) != dense.rank()) {
    return InvalidArgument("a sparse tensor of rank ", shape.dim(0), " and a dense one of shape ",
                           dense.ToString());
  }
  c.set_output(0, dense);
  return absl::OkStatus();
}

absl::Status CwiseShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape &shape = c.input(2), &dense = c.input(3);
  if (shape.has_rank() && dense.has_rank() && shape.dim(0) >= 0 && shape.dim(0) < dense.rank()) {
    return InvalidArgument("a dense tensor of shape ", dense.ToString(),
                           " does not broadcast to a sparse one of rank ", shape.dim(0));
  }
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

const OpRegistration sparse_tensor_dense_add({
    .name = "SparseTensorDenseAdd",
    .inputs = "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = AddShape,
    .reference = SparseDenseAddKernel,
});

OpRow CwiseRow(const char* name, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T",
      .outputs = "output: T",
      .attrs = "T: type",
      .types = kNumberTypes,
      .shape = CwiseShape,
      .reference = reference,
  };
}

const OpRegistration sparse_dense_cwise_add(CwiseRow("SparseDenseCwiseAdd",
                                                     SparseDenseCwiseKernel<SparseDenseOp::kAdd>));

const OpRegistration sparse_dense_cwise_mul(CwiseRow("SparseDenseCwiseMul",
                                                     SparseDenseCwiseKernel<SparseDenseOp::kMul>));

const OpRegistration sparse_dense_cwise_div(CwiseRow("SparseDenseCwiseDiv",
                                                     SparseDenseCwiseKernel<SparseDenseOp::kDiv>));

}  // namespace
}  // namespace tenon
