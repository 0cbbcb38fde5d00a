// XlaDot and XlaDotV2: a product of two tensors, summed over pairs of contracted dimensions, for
// each index of pairs of batch dimensions. The result has the batch dimensions, then the rest of
// lhs, then the rest of rhs. Rewriting turns them into Einsum.
#include "kernels/matmul/matmul.h"
#include "kernels/xla/dimension_numbers.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Labels for each dimension of both operands and of the result.
struct DotLabels {
  std::vector<int> lhs, rhs, out;
};

absl::StatusOr<DotLabels> LabelsOf(const AttrReader& attrs, const Shape& lhs, const Shape& rhs) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, attrs.String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(const DotNumbers n, ParseDotNumbers(bytes));
  DotLabels labels;
  labels.lhs.resize(static_cast<size_t>(lhs.rank()));
  labels.rhs.assign(static_cast<size_t>(rhs.rank()), -1);
  for (size_t i = 0; i < labels.lhs.size(); ++i) labels.lhs[i] = static_cast<int>(i);

  DimList of_lhs = n.lhs_batch, of_rhs = n.rhs_batch;
  of_lhs.insert(of_lhs.end(), n.lhs_contracting.begin(), n.lhs_contracting.end());
  of_rhs.insert(of_rhs.end(), n.rhs_contracting.begin(), n.rhs_contracting.end());
  if (!AreDims(of_lhs, lhs.rank()) || !AreDims(of_rhs, rhs.rank())) {
    return InvalidArgument("dimension numbers that do not fit operands of shapes ", lhs.ToString(),
                           " and ", rhs.ToString());
  }
  for (size_t i = 0; i < of_lhs.size(); ++i) {
    const int64_t a = lhs.dim(static_cast<int>(of_lhs[i]));
    const int64_t b = rhs.dim(static_cast<int>(of_rhs[i]));
    if (a >= 0 && b >= 0 && a != b) {
      return InvalidArgument("dimension ", of_lhs[i], " of lhs, ", a, ", and dimension ", of_rhs[i],
                             " of rhs, ", b, ", must be equal");
    }
    labels.rhs[static_cast<size_t>(of_rhs[i])] = static_cast<int>(of_lhs[i]);
  }
  for (int64_t d : n.lhs_batch) labels.out.push_back(static_cast<int>(d));
  for (int i = 0; i < lhs.rank(); ++i) {
    if (!Contains(of_lhs, i)) labels.out.push_back(i);
  }
  for (int i = 0; i < rhs.rank(); ++i) {
    int& label = labels.rhs[static_cast<size_t>(i)];
    if (label >= 0) continue;
    label = lhs.rank() + i;
    labels.out.push_back(label);
  }
  return labels;
}

absl::Status DotShape(ShapeContext& c) {
  const Shape &lhs = c.input(0), &rhs = c.input(1);
  if (!lhs.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const DotLabels labels, LabelsOf(c.attrs(), lhs, rhs));
  Shape out;
  for (int label : labels.out) {
    int64_t size = label < lhs.rank() ? lhs.dim(label) : rhs.dim(label - lhs.rank());
    for (int i = 0; size < 0 && i < rhs.rank(); ++i) {
      if (labels.rhs[static_cast<size_t>(i)] == label) size = rhs.dim(i);
    }
    out.push_back(size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Dot(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DotLabels labels,
                         LabelsOf(p.attrs(), p.input_shape(0), p.input_shape(1)));
  LabeledProduct product;
  product.a = RowMajor(labels.lhs, p.input_shape(0));
  product.b = RowMajor(labels.rhs, p.input_shape(1));
  product.out = RowMajor(labels.out, p.output_shape(0));
  return ProductReferenceKernel(p, std::move(product), {});
}

const OpRegistration dot({
    .name = "XlaDot",
    .inputs = "lhs: T, rhs: T",
    .outputs = "output: T",
    .attrs = "T: type; dimension_numbers: string; precision_config: string",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128",
    .shape = DotShape,
    .reference = Dot,
    .error_bound = ErrorBound::kEinsum,
});

const OpRegistration dot_v2({
    .name = "XlaDotV2",
    .inputs = "lhs: LhsT, rhs: RhsT",
    .outputs = "output: preferred_element_type",
    .attrs = "LhsT: type; RhsT: type; dimension_numbers: string; precision_config: string; "
             "preferred_element_type: type",
    .types = "LhsT: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128; RhsT: float double half bfloat16 int8 uint8 int16 uint16 int32 "
             "uint32 int64 uint64 complex64 complex128; preferred_element_type: float double half "
             "bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128",
    .shape = DotShape,
    .reference = Dot,
    .error_bound = ErrorBound::kEinsum,
});

}  // namespace
}  // namespace tenon
