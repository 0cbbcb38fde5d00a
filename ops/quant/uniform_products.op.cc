// UniformQuantizedDot, UniformQuantizedConvolution and their hybrid forms, which quantize lhs
// themselves: uniformly quantized operands (kernels/quantized/uniform.h), per tensor or per output
// feature.
#include "kernels/quantized/uniform_products.h"

#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

absl::Status ExpectAxis(const ShapeContext& c, const char* attr, int64_t feature) {
  const int64_t axis = c.attrs().Int(attr, -1);
  if (axis == -1 || axis == feature) return absl::OkStatus();
  return InvalidArgument(attr, " must be -1 or that of the features, ", feature, ", is ", axis);
}

enum class Axes { kOfScales, kOfAttributes };

// Checks the scales of a product of two quantized operands with the result `out`, or, if it has
// only four inputs, of rhs. The output's shape is set.
absl::Status CheckProduct(ShapeContext& c, int64_t rhs_feature, int64_t out_feature, Axes axes) {
  const bool hybrid = c.num_inputs() == 4;
  const auto axis = [&](const char* attr, int scales, int64_t feature) {
    if (axes == Axes::kOfAttributes) return c.attrs().Int(attr, -1);
    return c.input(scales).has_rank() && c.input(scales).rank() > 0 ? feature : -1;
  };
  const int rhs = hybrid ? 2 : 4;
  TENON_RETURN_IF_ERROR(ExpectAxis(c, "rhs_quantization_axis", rhs_feature));
  const int64_t rhs_axis = axis("rhs_quantization_axis", rhs, rhs_feature);
  if (axes == Axes::kOfAttributes || c.input(rhs).has_rank()) {
    TENON_RETURN_IF_ERROR(CheckScales(c, c.input(1), rhs_axis, {rhs, rhs + 1}));
  }
  if (hybrid) return absl::OkStatus();
  if (c.attrs().Int("lhs_quantization_axis", -1) != -1) {
    return InvalidArgument("lhs_quantization_axis must be -1");
  }
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3}));
  TENON_RETURN_IF_ERROR(ExpectAxis(c, "output_quantization_axis", out_feature));
  const int64_t out_axis = axis("output_quantization_axis", 6, out_feature);
  if (axes == Axes::kOfAttributes || c.input(6).has_rank()) {
    TENON_RETURN_IF_ERROR(CheckScales(c, c.outputs()[0], out_axis, {6, 7}));
  }
  if (c.input(4).has_rank() && rhs_axis == -1 && out_axis >= 0) {
    return InvalidArgument("an output with a scale for each feature needs such an rhs");
  }
  return absl::OkStatus();
}

absl::Status DotShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  const Shape &lhs = c.input(0), &rhs = c.input(1);
  Shape out = Shape::UnknownOfRank(2);
  if (lhs.has_rank()) out.set_dim(0, lhs.dim(0));
  if (rhs.has_rank()) out.set_dim(1, rhs.dim(1));
  c.set_output(0, std::move(out));
  if (lhs.has_rank() && rhs.has_rank() && lhs.dim(1) >= 0 && rhs.dim(0) >= 0 &&
      lhs.dim(1) != rhs.dim(0)) {
    return InvalidArgument("the rows of rhs must be as many as the columns of lhs: ",
                           lhs.ToString(), " and ", rhs.ToString());
  }
  return CheckProduct(c, 1, 1, Axes::kOfScales);
}

absl::Status ConvShape(ShapeContext& c) {
  const Shape &lhs = c.input(0), &rhs = c.input(1);
  if (!lhs.has_rank() || !rhs.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const ConvSpec spec, UniformConvSpec(c.attrs(), lhs, rhs));
  TENON_ASSIGN_OR_RETURN(Shape out, UniformConvOutput(spec, lhs, rhs));
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return CheckProduct(c, spec.numbers.kernel.batch, spec.numbers.output.feature,
                      Axes::kOfAttributes);
}

constexpr char kProductInputs[] =
    "lhs: Tin, rhs: Tin, lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, "
    "rhs_zero_points: int32, output_scales: float, output_zero_points: int32";
constexpr char kHybridInputs[] = "lhs: Tlhs, rhs: Trhs, rhs_scales: float, rhs_zero_points: int32";

const OpRegistration uniform_dot({
    .name = "UniformQuantizedDot",
    .inputs = kProductInputs,
    .outputs = "output: Tout",
    .attrs = "Tin: type; Tout: type; lhs_quantization_axis: int = -1; "
             "lhs_quantization_min_val: int; lhs_quantization_max_val: int; "
             "rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; "
             "rhs_quantization_max_val: int; output_quantization_axis: int = -1; "
             "output_quantization_min_val: int; output_quantization_max_val: int",
    .types = "Tin: qint8; Tout: qint32",
    .shape = DotShape,
    .reference = UniformDotKernel,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration uniform_dot_hybrid({
    .name = "UniformQuantizedDotHybrid",
    .inputs = kHybridInputs,
    .outputs = "output: Tout",
    .attrs = "Tlhs: type; Trhs: type; Tout: type; rhs_quantization_axis: int = -1; "
             "rhs_quantization_min_val: int; rhs_quantization_max_val: int",
    .types = "Tlhs: float; Trhs: qint8; Tout: float",
    .shape = DotShape,
    .reference = UniformDotHybridKernel,
    .discontinuous = true,
});

const OpRegistration uniform_convolution({
    .name = "UniformQuantizedConvolution",
    .inputs = kProductInputs,
    .outputs = "output: Tout",
    .attrs =
        "Tin: type; Tout: type; window_strides: list(int) = []; padding: string; "
        "explicit_padding: list(int) = []; lhs_dilation: list(int) = []; rhs_dilation: list(int) = "
        "[]; batch_group_count: int = 1; feature_group_count: int = 1; dimension_numbers: string = "
        "; lhs_quantization_axis: int = -1; lhs_quantization_min_val: int; "
        "lhs_quantization_max_val: int; rhs_quantization_axis: int = -1; "
        "rhs_quantization_min_val: int; rhs_quantization_max_val: int; output_quantization_axis: "
        "int = -1; output_quantization_min_val: int; output_quantization_max_val: int",
    .types = "Tin: qint8; Tout: qint32",
    .shape = ConvShape,
    .reference = UniformConvKernel,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration uniform_convolution_hybrid({
    .name = "UniformQuantizedConvolutionHybrid",
    .inputs = kHybridInputs,
    .outputs = "output: Tout",
    .attrs =
        "Tlhs: type; Trhs: type; Tout: type; window_strides: list(int) = []; padding: string; "
        "explicit_padding: list(int) = []; lhs_dilation: list(int) = []; rhs_dilation: list(int) = "
        "[]; batch_group_count: int = 1; feature_group_count: int = 1; dimension_numbers: string = "
        "; rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; "
        "rhs_quantization_max_val: int",
    .types = "Tlhs: float; Trhs: qint8; Tout: float",
    .shape = ConvShape,
    .reference = UniformConvHybridKernel,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
