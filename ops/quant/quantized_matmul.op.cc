// QuantizedMatMul and, with a bias and further fused ops, QuantizedMatMulWithBias….
#include "kernels/quantized/quantized_matmul.h"

#include "kernels/quantized/range_inputs.h"
#include "ops/op.h"
#include "ops/quant/contraction_shape.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

using Result = QuantizedFusion::Result;

constexpr QuantizedFusion kBias{.bias = true};
constexpr QuantizedFusion kBiasRelu{.bias = true, .relu = true};
constexpr QuantizedFusion kBiasRequantize{.bias = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBiasReluRequantize{
    .bias = true, .relu = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBiasDequantize{.bias = true, .result = Result::kDequantized};

template <const QuantizedFusion& kFusion>
struct Functions {
  static absl::Status Shape(ShapeContext& c) {
    const int weights_range = InputsOf(kFusion).weights_range;
    TENON_RETURN_IF_ERROR(ExpectScalars(c, {weights_range, weights_range + 1}));
    return QuantizedMatMulShape(c, kFusion);
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p) {
    return QuantizedMatMulReference(p, kFusion);
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p) {
    return QuantizedMatMulOnednn(p, kFusion);
  }
};

constexpr char kInputs[] =
    "a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float";
constexpr char kFrozenInputs[] =
    "a: T1, b: T2, bias: Tbias, min_a: float, max_a: float, min_b: float, max_b: float, "
    "min_freezed_output: float, max_freezed_output: float";
constexpr char kOutputs[] = "out: Toutput, min_out: float, max_out: float";
constexpr char kFrozenAttrs[] =
    "T1: type; T2: type; Tbias: type; Toutput: type = quint8; transpose_a: bool = false; "
    "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST";
constexpr char kFrozenTypes[] =
    "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Toutput: quint8 qint8";

const OpRegistration plain({
    .name = "QuantizedMatMul",
    .inputs = "a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float",
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Toutput: type = qint32; transpose_a: bool = false; "
             "transpose_b: bool = false; Tactivation: type = quint8",
    .types = "T1: quint8; T2: quint8; Toutput: qint32",
    .shape = UnsignedMatMulShape,
    .reference = UnsignedMatMulReference,
    .accelerated = UnsignedMatMulVector,
    .native = "_MklNativeQuantizedMatMul",
    .native_types = "quint8",
    .error_bound = ErrorBound::kMatrixProduct,
});
const OpRegistration bias({
    .name = "QuantizedMatMulWithBias",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Tbias: type; Toutput: type = qint32; transpose_a: bool = false; "
             "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST",
    .types = "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Toutput: qint32",
    .shape = Functions<kBias>::Shape,
    .reference = Functions<kBias>::Reference,
    .accelerated = Functions<kBias>::Onednn,
    .native = "_MklNativeQuantizedMatMulWithBias",
    .native_types = "quint8 qint8",
    .error_bound = ErrorBound::kMatrixProduct,
    .rounds_to_integers = true,
});
const OpRegistration bias_relu({
    .name = "QuantizedMatMulWithBiasAndRelu",
    .inputs = "a: T1, b: T2, bias: float, min_a: float, max_a: float, min_b: float, max_b: float",
    .outputs = kOutputs,
    .attrs = "T1: type; T2: type; Toutput: type = qint32; transpose_a: bool = false; "
             "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST",
    .types = "T1: quint8 qint8; T2: qint8; Toutput: qint32",
    .shape = Functions<kBiasRelu>::Shape,
    .reference = Functions<kBiasRelu>::Reference,
    .accelerated = Functions<kBiasRelu>::Onednn,
    .native = "_MklNativeQuantizedMatMulWithBiasAndRelu",
    .native_types = "quint8 qint8",
    .error_bound = ErrorBound::kMatrixProduct,
    .rounds_to_integers = true,
});
const OpRegistration bias_requantize({
    .name = "QuantizedMatMulWithBiasAndRequantize",
    .inputs = kFrozenInputs,
    .outputs = kOutputs,
    .attrs = kFrozenAttrs,
    .types = kFrozenTypes,
    .shape = Functions<kBiasRequantize>::Shape,
    .reference = Functions<kBiasRequantize>::Reference,
    .accelerated = Functions<kBiasRequantize>::Onednn,
    .native = "_MklNativeQuantizedMatMulWithBiasAndRequantize",
    .native_types = "quint8 qint8",
    .error_bound = ErrorBound::kMatrixProduct,
    .rounds_to_integers = true,
});
const OpRegistration bias_relu_requantize({
    .name = "QuantizedMatMulWithBiasAndReluAndRequantize",
    .inputs = kFrozenInputs,
    .outputs = kOutputs,
    .attrs = kFrozenAttrs,
    .types = kFrozenTypes,
    .shape = Functions<kBiasReluRequantize>::Shape,
    .reference = Functions<kBiasReluRequantize>::Reference,
    .accelerated = Functions<kBiasReluRequantize>::Onednn,
    .native = "_MklNativeQuantizedMatMulWithBiasAndReluAndRequantize",
    .native_types = "quint8 qint8",
    .error_bound = ErrorBound::kMatrixProduct,
    .rounds_to_integers = true,
});
const OpRegistration bias_dequantize({
    .name = "QuantizedMatMulWithBiasAndDequantize",
    .inputs = kFrozenInputs,
    .outputs = "out: Toutput",
    .attrs = "T1: type; T2: type; Tbias: type; Toutput: type; transpose_a: bool = false; "
             "transpose_b: bool = false; input_quant_mode: string = MIN_FIRST",
    .types = "T1: quint8 qint8; T2: qint8; Tbias: float qint32; Toutput: float",
    .shape = Functions<kBiasDequantize>::Shape,
    .reference = Functions<kBiasDequantize>::Reference,
    .accelerated = Functions<kBiasDequantize>::Onednn,
    .native = "_MklNativeQuantizedMatMulWithBiasAndDequantize",
    .native_types = "quint8 qint8",
    .error_bound = ErrorBound::kMatrixProduct,
    .rounds_to_integers = true,
});

}  // namespace
}  // namespace tenon
