// MatMul, its fused form, and SparseMatMul: [M, K] x [K, N], each optionally transposed.
#include "kernels/matmul/matmul.h"

#include "env/status.h"
#include "kernels/matmul/mixed_product.h"
#include "ops/nn/contraction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status MatMulShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  auto dim = [&c](int input, absl::string_view transpose, int axis) -> int64_t {
    const int at = c.attrs().Bool(transpose, false) ? 1 - axis : axis;
    return c.input(input).has_rank() ? c.input(input)[at] : -1;
  };
  const int64_t ka = dim(0, "transpose_a", 1), kb = dim(1, "transpose_b", 0);
  if (ka >= 0 && kb >= 0 && ka != kb) {
    return InvalidArgument("inner dimensions differ: ", c.input(0).ToString(), " x ",
                           c.input(1).ToString());
  }
  return SetProductShape(c, Shape({dim(0, "transpose_a", 0), dim(1, "transpose_b", 1)}));
}

LabeledProduct MatMulProduct(const PrepareContext& p) {
  enum { kM, kN, kK };
  auto labels = [&p](absl::string_view transpose, int rows, int columns) {
    return p.attrs().Bool(transpose, false) ? std::vector<int>{columns, rows}
                                            : std::vector<int>{rows, columns};
  };
  LabeledProduct product;
  product.a = RowMajor(labels("transpose_a", kM, kK), p.input_shape(0));
  product.b = RowMajor(labels("transpose_b", kK, kN), p.input_shape(1));
  product.out = RowMajor({kM, kN}, p.output_shape(0));
  return product;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceMatMul(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  return ProductReferenceKernel(p, MatMulProduct(p), fused);
}
absl::StatusOr<std::unique_ptr<Kernel>> OnednnMatMul(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  return ProductOnednnKernel(p, MatMulProduct(p), std::move(fused));
}

const OpRegistration matmul({
    .name = "MatMul",
    .inputs = "a: T, b: T",
    .outputs = "product: T",
    .attrs = "transpose_a: bool = false; transpose_b: bool = false; T: type; "
             "grad_a: bool = false; grad_b: bool = false",
    .types = "T: bfloat16 half float double int32 int64 uint8 uint16 uint32 uint64 complex64 "
             "complex128",
    .shape = MatMulShape,
    .reference = ReferenceMatMul,
    .accelerated = OnednnMatMul,
    .native = "_MklNativeMatMul",
    .native_types = "float bfloat16 double complex64 complex128",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::MatMul,
    .on_integers = OnIntegers::kContraction,
    .error_bound = ErrorBound::kMatrixProduct,
});

absl::StatusOr<std::unique_ptr<Kernel>> FloatSparseMatMul(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kFloat || p.input_dtype(1) != DType::kFloat) {
    return Unimplemented("not two floats");
  }
  return ProductOnednnKernel(p, MatMulProduct(p), FusedOps());
}

// Takes and multiplies the zeros of its operands like other numbers.
const OpRegistration sparse_matmul({
    .name = "SparseMatMul",
    .inputs = "a: Ta, b: Tb",
    .outputs = "product: float",
    .attrs = "transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; "
             "b_is_sparse: bool = false; Ta: type = float; Tb: type = float",
    .types = "Ta: float bfloat16; Tb: float bfloat16",
    .shape = MatMulShape,
    .reference = MixedProduct,
    .accelerated = FloatSparseMatMul,
    .native = "_MklNativeSparseMatMul",
    .precision = PrecisionRole::kAsStated,
    .batch_axis = batch_axis::MatMul,
    .error_bound = ErrorBound::kMatrixProduct,
});

const OpRegistration fused_matmul({
    .name = "_FusedMatMul",
    .inputs = "a: T, b: T, args: num_args * T",
    .outputs = "product: T",
    .attrs = "transpose_a: bool = false; transpose_b: bool = false; T: type; num_args: int; "
             "fused_ops: list(string) = []; epsilon: float = 0.0001; "
             "leakyrelu_alpha: float = 0.2",
    .types = "T: bfloat16 half float double",
    .shape = MatMulShape,
    .reference = ReferenceMatMul,
    .accelerated = OnednnMatMul,
    .native = "_MklNativeFusedMatMul",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::MatMul,
    .on_integers = OnIntegers::kFusedContraction,
    .error_bound = ErrorBound::kMatrixProduct,
});

}  // namespace
}  // namespace tenon
