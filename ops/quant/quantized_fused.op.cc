// _FusedQuantizedConv2D, _FusedQuantizedDepthwiseConv2D and _QuantizedMatMul: the fusion is an
// attribute. fused_ops: BiasAdd, Sum (for matrix products: Add), Relu or (if one of the next
// follows) _Swish, Requantize or Dequantize, any of them, in this order. Inputs: data, weights,
// bias, summand; then two for each range: data, weights, summand (if it is quantized), result (with
// Requantize). Ranges have mode SCALED. data_zero (convolutions): the data's zero point;
// result_zero (with Requantize): the zero point that is added to the result after the activation.
#include "absl/strings/str_join.h"
#include "kernels/quantized/quantized_conv.h"
#include "kernels/quantized/quantized_matmul.h"
#include "ops/op.h"
#include "ops/quant/contraction_shape.h"

namespace tenon {
namespace {

// An 8-bit integer: the range of both dtypes is allowed, and saturation does the rest.
absl::StatusOr<int32_t> ReadZero(const AttrReader& attrs, const char* name) {
  const int64_t zero = attrs.Int(name, 0);
  if (zero < -128 || zero > 255) {
    return InvalidArgument(name, " must be an integer of 8 bits, is ", zero);
  }
  return static_cast<int32_t>(zero);
}

absl::StatusOr<QuantizedFusion> ReadFusion(const AttrReader& attrs, const char* summand_attr) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> ops, attrs.Strings("fused_ops"));
  QuantizedFusion fusion;
  fusion.ranges_last = true;
  size_t i = 0;
  auto take = [&](const char* op) {
    if (i == ops.size() || ops[i] != op) return false;
    ++i;
    return true;
  };
  fusion.bias = take("BiasAdd");
  if (take("Sum") || take("Add")) {
    TENON_ASSIGN_OR_RETURN(const DType summand, attrs.Type(summand_attr));
    fusion.sum =
        IsQuantized(summand) ? QuantizedFusion::Sum::kQuantized : QuantizedFusion::Sum::kFloat;
  }
  fusion.relu = take("Relu");
  fusion.swish = !fusion.relu && take("_Swish");
  if (take("Requantize")) {
    fusion.result = QuantizedFusion::Result::kRequantized;
  } else if (take("Dequantize")) {
    fusion.result = QuantizedFusion::Result::kDequantized;
  }
  TENON_ASSIGN_OR_RETURN(fusion.data_zero, ReadZero(attrs, "data_zero"));
  TENON_ASSIGN_OR_RETURN(fusion.result_zero, ReadZero(attrs, "result_zero"));
  if (fusion.result_zero != 0 && fusion.result != QuantizedFusion::Result::kRequantized) {
    return InvalidArgument("result_zero requires Requantize");
  }
  const bool whole = fusion.result == QuantizedFusion::Result::kInt32;
  if (i != ops.size() || (fusion.swish && whole)) {
    return InvalidArgument(
        "fused_ops [", absl::StrJoin(ops, ", "),
        "] are not BiasAdd, Sum, Relu or _Swish, Requantize or Dequantize in this order");
  }
  return fusion;
}

// The lists of inputs and outputs are unconstrained, so their lengths and dtypes are checked
// against the fusion.
absl::Status CheckArguments(const ShapeContext& c, const QuantizedFusion& fusion) {
  const QuantizedInputs in = InputsOf(fusion);
  if (c.num_inputs() != in.count) {
    return InvalidArgument("these fused_ops take ", in.count, " inputs, there are ",
                           c.num_inputs());
  }
  auto eight = [](DType dtype) { return dtype == DType::kQint8 || dtype == DType::kQuint8; };
  for (int i = 0; i < in.count; ++i) {
    const DType dtype = c.dtype(i);
    const bool fits = i == in.data      ? eight(dtype)
                      : i == in.weights ? dtype == DType::kQint8
                      : i == in.bias    ? dtype == DType::kFloat || dtype == DType::kQint32
                      : i == in.summand && fusion.sum == QuantizedFusion::Sum::kQuantized
                          ? eight(dtype)
                          : dtype == DType::kFloat;
    if (!fits) return InvalidArgument("input ", i, " must not be ", Name(dtype));
  }
  std::vector<DType> outputs;
  for (const char* list : {"Tdevice_outputs", "Thost_outputs"}) {
    const auto* dtypes = c.node().attr<std::vector<DType>>(list);
    if (dtypes != nullptr) outputs.insert(outputs.end(), dtypes->begin(), dtypes->end());
  }
  const bool ranges = fusion.result != QuantizedFusion::Result::kDequantized;
  const size_t count = ranges ? 3 : 1;
  if (outputs.size() != count || c.num_outputs() != static_cast<int>(count)) {
    return InvalidArgument("these fused_ops give ", count, " outputs, not ", outputs.size());
  }
  const bool fits = fusion.result == QuantizedFusion::Result::kInt32 ? outputs[0] == DType::kQint32
                    : ranges                                         ? eight(outputs[0])
                                                                     : outputs[0] == DType::kFloat;
  if (!fits) return InvalidArgument("these fused_ops do not give ", Name(outputs[0]));
  for (size_t i = 1; i < count; ++i) {
    if (outputs[i] != DType::kFloat) return InvalidArgument("ranges must be float");
  }
  return absl::OkStatus();
}

absl::StatusOr<QuantizedFusion> ConvFusion(const AttrReader& attrs) {
  if (attrs.String("data_format", "NHWC") != "NHWC") {
    return InvalidArgument("data_format must be NHWC");
  }
  return ReadFusion(attrs, "Tsummand");
}

template <ConvKind kKind>
struct Conv {
  static absl::Status Shape(ShapeContext& c) {
    TENON_ASSIGN_OR_RETURN(const QuantizedFusion fusion, ConvFusion(c.attrs()));
    TENON_RETURN_IF_ERROR(CheckArguments(c, fusion));
    return QuantizedConvShape(c, kKind, fusion);
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p) {
    TENON_ASSIGN_OR_RETURN(const QuantizedFusion fusion, ConvFusion(p.attrs()));
    return QuantizedConvReference(p, kKind, fusion);
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p) {
    TENON_ASSIGN_OR_RETURN(const QuantizedFusion fusion, ConvFusion(p.attrs()));
    return QuantizedConvOnednn(p, kKind, fusion);
  }
};

absl::StatusOr<QuantizedFusion> MatMulFusion(const AttrReader& attrs) {
  if (attrs.String("output_quant_mode", "SCALED") != "SCALED") {
    return InvalidArgument("output_quant_mode must be SCALED");
  }
  return ReadFusion(attrs, "U");
}
absl::Status MatMulShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const QuantizedFusion fusion, MatMulFusion(c.attrs()));
  TENON_RETURN_IF_ERROR(CheckArguments(c, fusion));
  return QuantizedMatMulShape(c, fusion);
}
absl::StatusOr<std::unique_ptr<Kernel>> MatMulReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const QuantizedFusion fusion, MatMulFusion(p.attrs()));
  return QuantizedMatMulReference(p, fusion);
}
absl::StatusOr<std::unique_ptr<Kernel>> MatMulOnednn(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const QuantizedFusion fusion, MatMulFusion(p.attrs()));
  return QuantizedMatMulOnednn(p, fusion);
}

constexpr char kInputs[] = "device_inputs: Tdevice_inputs, host_inputs: Thost_inputs";
constexpr char kOutputs[] = "device_outputs: Tdevice_outputs, host_outputs: Thost_outputs";
constexpr char kConvAttrs[] =
    "Tinput: type = quint8; Tfilter: type = qint8; Tbias: type = qint32; Tsummand: type = quint8; "
    "out_type: type = qint32; Tdevice_inputs: list(type) = []; Thost_inputs: list(type) = []; "
    "Tdevice_outputs: list(type) = []; Thost_outputs: list(type) = []; "
    "data_format: string = NHWC; strides: list(int); is_filter_const: bool = true; "
    "is_bias_const: bool = true; padding: string; explicit_paddings: list(int) = []; "
    "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; alpha: float = 0.0; "
    "data_zero: int = 0; result_zero: int = 0";
constexpr char kConvTypes[] =
    "Tinput: quint8 qint8; Tfilter: qint8; Tbias: float qint32; Tsummand: quint8 qint8 float; "
    "out_type: quint8 qint8 qint32 float";

const OpRegistration conv({
    .name = "_FusedQuantizedConv2D",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kConvAttrs,
    .types = kConvTypes,
    .shape = Conv<ConvKind::kDense>::Shape,
    .reference = Conv<ConvKind::kDense>::Reference,
    .accelerated = Conv<ConvKind::kDense>::Onednn,
    .native = "_MklNativeFusedQuantizedConv2D",
    .native_types = "quint8 qint8",
    .internal = true,
    .batch_axis = batch_axis::Contraction,
    .range_of_ranges = true,
    .error_bound = ErrorBound::kConvolution,
    .rounds_to_integers = true,
});
const OpRegistration depthwise({
    .name = "_FusedQuantizedDepthwiseConv2D",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kConvAttrs,
    .types = kConvTypes,
    .shape = Conv<ConvKind::kDepthwise>::Shape,
    .reference = Conv<ConvKind::kDepthwise>::Reference,
    .accelerated = Conv<ConvKind::kDepthwise>::Onednn,
    .native = "_MklNativeFusedQuantizedDepthwiseConv2D",
    .native_types = "quint8 qint8",
    .internal = true,
    .batch_axis = batch_axis::Contraction,
    .range_of_ranges = true,
    .error_bound = ErrorBound::kDepthwiseConvolution,
    .rounds_to_integers = true,
});
const OpRegistration matmul({
    .name = "_QuantizedMatMul",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Tbias: type = float; U: type = float; Tout: type = float; "
             "Tdevice_inputs: list(type) = []; Thost_inputs: list(type) = []; "
             "Tdevice_outputs: list(type) = []; Thost_outputs: list(type) = []; "
             "transpose_a: bool = false; transpose_b: bool = false; is_weight_const: bool = true; "
             "is_bias_const: bool = true; fused_ops: list(string) = []; "
             "input_quant_mode: string = SCALED; output_quant_mode: string = SCALED; "
             "leakyrelu_alpha: float = 0.2; result_zero: int = 0",
    .types = "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Tout: quint8 qint8 qint32 float",
    .shape = MatMulShape,
    .reference = MatMulReference,
    .accelerated = MatMulOnednn,
    .native = "_MklNativeFusedQuantizedMatMul",
    .native_types = "quint8 qint8",
    .batch_axis = batch_axis::MatMul,
    .range_of_ranges = true,
    .error_bound = ErrorBound::kMatrixProduct,
    .rounds_to_integers = true,
});

}  // namespace
}  // namespace tenon
