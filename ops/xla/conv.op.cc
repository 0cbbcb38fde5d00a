// XlaConv and XlaConvV2: XLA's general convolution. Rewriting turns the common forms into Conv2D,
// Conv3D and DepthwiseConv2dNative.
#include "kernels/xla/conv.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status XlaConvShape(ShapeContext& c) {
  const Shape &lhs = c.input(0), &rhs = c.input(1);
  if (!lhs.has_rank()) return absl::OkStatus();
  c.set_output(0, Shape::UnknownOfRank(lhs.rank()));
  const Tensor* values[5];
  for (int i = 0; i < 5; ++i) {
    values[i] = c.value(2 + i);
    if (values[i] == nullptr) return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const ConvSpec spec, MakeConvSpec(c.attrs(), values));
  if (!rhs.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(Shape out, ConvOutput(spec, lhs, rhs));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration conv({
    .name = "XlaConv",
    .inputs = "lhs: T, rhs: T, window_strides: Tindices, padding: Tindices, lhs_dilation: "
              "Tindices, rhs_dilation: Tindices, feature_group_count: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; dimension_numbers: string; precision_config: string",
    .types = "T: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128; Tindices: int32 int64",
    .shape = XlaConvShape,
    .reference = XlaConvKernel,
    .error_bound = ErrorBound::kEinsum,
});

const OpRegistration conv_v2({
    .name = "XlaConvV2",
    .inputs = "lhs: LhsT, rhs: RhsT, window_strides: Tindices, padding: Tindices, lhs_dilation: "
              "Tindices, rhs_dilation: Tindices, feature_group_count: Tindices",
    .outputs = "output: preferred_element_type",
    .attrs = "LhsT: type; RhsT: type; Tindices: type; dimension_numbers: string; "
             "precision_config: string; preferred_element_type: type; batch_group_count: int = 1",
    .types = "LhsT: float double half bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
             "complex64 complex128; RhsT: float double half bfloat16 int8 uint8 int16 uint16 int32 "
             "uint32 int64 uint64 complex64 complex128; preferred_element_type: float double half "
             "bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128; "
             "Tindices: int32 int64",
    .shape = XlaConvShape,
    .reference = XlaConvKernel,
    .error_bound = ErrorBound::kEinsum,
});

}  // namespace
}  // namespace tenon
