// Einsum of one or two operands, XlaEinsum of two, and the fused form, whose bias may have any
// shape that broadcasts to the output.
#include <map>

#include "env/status.h"
#include "kernels/matmul/einsum_equation.h"
#include "kernels/matmul/matmul.h"
#include "ops/nn/contraction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

// XlaEinsum has no N.
int NumOperands(const AttrReader& attrs) { return static_cast<int>(attrs.Int("N", 2)); }

// The extent of each label; -1 if unknown. Ones broadcast only within an ellipsis.
absl::Status AddExtents(const std::vector<int>& labels, const Shape& shape,
                        std::map<int, int64_t>& extents) {
  for (int i = 0; i < shape.rank(); ++i) {
    const int label = labels[static_cast<size_t>(i)];
    const bool may_broadcast = label >= 256;
    auto [it, added] = extents.emplace(label, shape[i]);
    const int64_t before = it->second;
    if (added || shape[i] == before) continue;
    if (may_broadcast && (before == 1 || shape[i] == 1)) {
      it->second = before == 1 ? shape[i] : before;  // still unknown: it may be 1 or more
    } else if (before < 0) {
      it->second = shape[i];
    } else if (shape[i] >= 0) {
      return InvalidArgument("a label stands for ", before, " and for ", shape[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status EinsumShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string equation, c.attrs().String("equation"));
  const int n = NumOperands(c.attrs());
  TENON_ASSIGN_OR_RETURN(const int operands, EinsumOperands(equation));
  if (operands != n) {
    return InvalidArgument("equation '", equation, "' is for ", operands, " operands, but N is ",
                           n);
  }
  if (n > 2) return Unimplemented("Einsum of ", n, " operands");
  std::vector<int> ranks;
  for (int i = 0; i < n; ++i) {
    if (!c.input(i).has_rank()) {
      c.set_output(0, Shape::Unknown());
      return absl::OkStatus();
    }
    ranks.push_back(c.input(i).rank());
  }
  TENON_ASSIGN_OR_RETURN(const EinsumLabels labels, ParseEinsum(equation, ranks));
  std::map<int, int64_t> extents;
  for (int i = 0; i < n; ++i) {
    if (absl::Status s = AddExtents(labels.inputs[static_cast<size_t>(i)], c.input(i), extents);
        !s.ok()) {
      return Annotate(s, equation);
    }
  }
  Shape::Dims out;
  for (int label : labels.output) out.push_back(extents[label]);
  return SetProductShape(c, Shape(absl::MakeConstSpan(out)));
}

absl::StatusOr<LabeledProduct> EinsumProduct(const PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string equation, p.attrs().String("equation"));
  const int n = NumOperands(p.attrs());
  std::vector<int> ranks;
  for (int i = 0; i < n; ++i) ranks.push_back(p.input_shape(i).rank());
  TENON_ASSIGN_OR_RETURN(const EinsumLabels labels, ParseEinsum(equation, ranks));
  LabeledProduct product;
  product.a = RowMajor(labels.inputs[0], p.input_shape(0));
  product.has_b = n == 2;
  if (product.has_b) product.b = RowMajor(labels.inputs[1], p.input_shape(1));
  product.out = RowMajor(labels.output, p.output_shape(0));
  return product;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReferenceEinsum(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(LabeledProduct product, EinsumProduct(p));
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  return ProductReferenceKernel(p, std::move(product), fused);
}
absl::StatusOr<std::unique_ptr<Kernel>> OnednnEinsum(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(LabeledProduct product, EinsumProduct(p));
  TENON_ASSIGN_OR_RETURN(FusedOps fused, ProductFusedOps(p.attrs(), p.num_inputs()));
  return ProductOnednnKernel(p, std::move(product), std::move(fused));
}

const OpRegistration einsum({
    .name = "Einsum",
    .inputs = "inputs: N * T",
    .outputs = "output: T",
    .attrs = "equation: string; N: int; T: type",
    .types = "T: bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128",
    .shape = EinsumShape,
    .reference = ReferenceEinsum,
    .accelerated = OnednnEinsum,
    .native = "_MklNativeEinsum",
    .native_types = "float bfloat16 double complex64 complex128",
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Einsum,
    .error_bound = ErrorBound::kEinsum,
});

// Rewriting turns it into Einsum.
const OpRegistration xla_einsum({
    .name = "XlaEinsum",
    .inputs = "a: T, b: T",
    .outputs = "product: T",
    .attrs = "equation: string; T: type",
    .types = "T: complex64 bfloat16 float",
    .shape = EinsumShape,
    .reference = ReferenceEinsum,
    .error_bound = ErrorBound::kEinsum,
});

const OpRegistration fused_einsum({
    .name = "_FusedEinsum",
    .inputs = "inputs: N * T, args: num_args * T",
    .outputs = "output: T",
    .attrs = "equation: string; N: int; T: type; num_args: int; fused_ops: list(string) = []; "
             "epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
    .types = "T: bfloat16 half float double",
    .shape = EinsumShape,
    .reference = ReferenceEinsum,
    .accelerated = OnednnEinsum,
    .native = "_MklNativeFusedEinsum",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kLeads,
    .batch_axis = batch_axis::Einsum,
    .error_bound = ErrorBound::kEinsum,
});

}  // namespace
}  // namespace tenon
