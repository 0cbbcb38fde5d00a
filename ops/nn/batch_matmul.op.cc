// BatchMatMul, V2 (broadcasting), V3 (output dtypes may differ from the inputs') and the fused
// form: [..., M, K] x [..., K, N], each optionally adjoint.
#include "absl/strings/match.h"
#include "env/status.h"
#include "kernels/matmul/matmul.h"
#include "ops/nn/contraction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

Shape BatchDims(const Shape& s) { return Shape(s.dims().subspan(0, s.dims().size() - 2)); }

absl::Status BatchMatMulShape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (!c.input(i).has_rank()) {
      c.set_output(0, Shape::Unknown());
      return absl::OkStatus();
    }
    if (c.input(i).rank() < 2) {
      return InvalidArgument("input ", i, " must have rank 2 or more, but is ",
                             c.input(i).ToString());
    }
  }
  auto dim = [&c](int input, absl::string_view adjoint, int axis) {
    const Shape& s = c.input(input);
    return s[s.rank() - 2 + (c.attrs().Bool(adjoint, false) ? 1 - axis : axis)];
  };
  const int64_t ka = dim(0, "adj_x", 1), kb = dim(1, "adj_y", 0);
  if (ka >= 0 && kb >= 0 && ka != kb) {
    return InvalidArgument("inner dimensions differ: ", c.input(0).ToString(), " x ",
                           c.input(1).ToString());
  }
  const Shape a = BatchDims(c.input(0)), b = BatchDims(c.input(1));
  absl::StatusOr<Shape> batch =
      absl::EndsWith(c.node().op, "BatchMatMul") ? MergeShapes(a, b) : BroadcastShapes(a, b);
  if (!batch.ok()) return batch.status();
  Shape::Dims out(batch->dims().begin(), batch->dims().end());
  out.push_back(dim(0, "adj_x", 0));
  out.push_back(dim(1, "adj_y", 1));
  return SetProductShape(c, Shape(absl::MakeConstSpan(out)));
}

// Labels: batch dimensions counted from the right (so that they line up), then M, N, K.
LabeledProduct BatchMatMulProduct(const PrepareContext& p) {
  const int rank = p.output_shape(0).rank();
  const int m = rank, n = rank + 1, k = rank + 2;
  auto labels = [rank](const Shape& s, int rows, int columns, bool adjoint) {
    std::vector<int> l;
    for (int i = 0; i < s.rank() - 2; ++i) l.push_back(rank - s.rank() + i);
    l.push_back(adjoint ? columns : rows);
    l.push_back(adjoint ? rows : columns);
    return l;
  };
  const bool adj_x = p.attrs().Bool("adj_x", false), adj_y = p.attrs().Bool("adj_y", false);
  LabeledProduct product;
  product.a = RowMajor(labels(p.input_shape(0), m, k, adj_x), p.input_shape(0));
  product.b = RowMajor(labels(p.input_shape(1), k, n, adj_y), p.input_shape(1));
  product.out = RowMajor(labels(p.output_shape(0), m, n, false), p.output_shape(0));
  product.a.conjugate = adj_x;
  product.b.conjugate = adj_y;
  return product;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceBatchMatMul(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  return ProductReferenceKernel(p, BatchMatMulProduct(p), fused);
}
absl::StatusOr<std::unique_ptr<Kernel>> OnednnBatchMatMul(PrepareContext& p) {
  for (int i = 0; i < p.num_inputs(); ++i) {
    if (p.input_dtype(i) != p.output_dtype(0)) return Unimplemented("mixed dtypes");
  }
  TENON_ASSIGN_OR_RETURN(FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  return ProductOnednnKernel(p, BatchMatMulProduct(p), std::move(fused));
}

constexpr char kBatchMatMulAttrs[] =
    "T: type; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; "
    "grad_y: bool = false";

const OpRegistration batch_matmul({
    .name = "BatchMatMul",
    .inputs = "x: T, y: T",
    .outputs = "output: T",
    .attrs = kBatchMatMulAttrs,
    .types = "T: bfloat16 half float double int32 int64 complex64 complex128",
    .shape = BatchMatMulShape,
    .reference = ReferenceBatchMatMul,
    .accelerated = OnednnBatchMatMul,
    .native = "_MklNativeBatchMatMul",
    .native_types = "float bfloat16 double complex64 complex128",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::BatchMatMul,
    .error_bound = ErrorBound::kMatrixProduct,
});

const OpRegistration batch_matmul_v2({
    .name = "BatchMatMulV2",
    .inputs = "x: T, y: T",
    .outputs = "output: T",
    .attrs = kBatchMatMulAttrs,
    .types = "T: bfloat16 half float double int16 int32 int64 uint8 uint16 uint32 uint64 "
             "complex64 complex128",
    .shape = BatchMatMulShape,
    .reference = ReferenceBatchMatMul,
    .accelerated = OnednnBatchMatMul,
    .native = "_MklNativeBatchMatMulV2",
    .native_types = "float bfloat16 double complex64 complex128",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::BatchMatMul,
    .error_bound = ErrorBound::kMatrixProduct,
});

const OpRegistration batch_matmul_v3({
    .name = "BatchMatMulV3",
    .inputs = "x: Ta, y: Tb",
    .outputs = "output: Tout",
    .attrs = "Ta: type; Tb: type; Tout: type; adj_x: bool = false; adj_y: bool = false; "
             "grad_x: bool = false; grad_y: bool = false",
    .types = "Ta: bfloat16 half float double uint8 int8 int16 int32 int64 complex64 complex128; "
             "Tb: bfloat16 half float double uint8 int8 int16 int32 int64 complex64 complex128; "
             "Tout: bfloat16 half float double int16 int32 int64 complex64 complex128",
    .shape = BatchMatMulShape,
    .reference = ReferenceBatchMatMul,
    .accelerated = OnednnBatchMatMul,
    .native = "_MklNativeBatchMatMulV3",
    .native_types = "float bfloat16 double complex64 complex128",
    .batch_axis = batch_axis::BatchMatMul,
    .error_bound = ErrorBound::kMatrixProduct,
});

const OpRegistration fused_batch_matmul({
    .name = "_FusedBatchMatMulV2",
    .inputs = "x: T, y: T, args: num_args * T",
    .outputs = "output: T",
    .attrs = "T: type; num_args: int; adj_x: bool = false; adj_y: bool = false; "
             "fused_ops: list(string) = []; epsilon: float = 0.0001; "
             "leakyrelu_alpha: float = 0.2",
    .types = "T: bfloat16 half float double",
    .shape = BatchMatMulShape,
    .reference = ReferenceBatchMatMul,
    .accelerated = OnednnBatchMatMul,
    .native = "_MklNativeFusedBatchMatMulV2",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::BatchMatMul,
    .error_bound = ErrorBound::kMatrixProduct,
});

}  // namespace
}  // namespace tenon
