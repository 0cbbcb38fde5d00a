// QuantizedConv2D, QuantizedDepthwiseConv2D and their fused forms. input [N, H, W, C] in quint8 or
// qint8; filter [h, w, C, O] (depthwise [h, w, C, M]) in qint8, with one range, or one per output
// channel.
#include "kernels/quantized/quantized_conv.h"
#include "ops/op.h"
#include "ops/quant/contraction_shape.h"

namespace tenon {
namespace {

using Sum = QuantizedFusion::Sum;
using Result = QuantizedFusion::Result;

constexpr QuantizedFusion kPlain{};
constexpr QuantizedFusion kRelu{.relu = true};
constexpr QuantizedFusion kRequantize{.result = Result::kRequantized};
constexpr QuantizedFusion kReluRequantize{.relu = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBias{.bias = true};
constexpr QuantizedFusion kBiasRelu{.bias = true, .relu = true};
constexpr QuantizedFusion kBiasRequantize{.bias = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBiasReluRequantize{
    .bias = true, .relu = true, .result = Result::kRequantized};
constexpr QuantizedFusion kBiasSumRelu{.bias = true, .sum = Sum::kFloat, .relu = true};
constexpr QuantizedFusion kBiasSumReluRequantize{
    .bias = true, .sum = Sum::kQuantized, .relu = true, .result = Result::kRequantized};

template <ConvKind kKind, const QuantizedFusion& kFusion>
struct Functions {
  static absl::Status Shape(ShapeContext& c) { return QuantizedConvShape(c, kKind, kFusion); }
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p) {
    return QuantizedConvReference(p, kKind, kFusion);
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p) {
    return QuantizedConvOnednn(p, kKind, kFusion);
  }
};

// The parts of an op's row that depend on its fusion.
struct Text {
  const char* inputs;
  const char* attrs;
  const char* types;
};

template <ConvKind kKind, const QuantizedFusion& kFusion>
OpRow Row(const char* name, const char* native, const Text& text) {
  return {
      .name = name,
      .inputs = text.inputs,
      .outputs = "output: out_type, min_output: float, max_output: float",
      .attrs = text.attrs,
      .types = text.types,
      .shape = Functions<kKind, kFusion>::Shape,
      .reference = Functions<kKind, kFusion>::Reference,
      .accelerated = Functions<kKind, kFusion>::Onednn,
      .native = native,
      .native_types = "quint8 qint8",
      .error_bound = kKind == ConvKind::kDepthwise ? ErrorBound::kDepthwiseConvolution
                                                   : ErrorBound::kConvolution,
      .rounds_to_integers = kFusion.bias || kFusion.result == Result::kRequantized,
  };
}
template <const QuantizedFusion& kFusion>
OpRow Dense(const char* name, const char* native, const Text& text) {
  return Row<ConvKind::kDense, kFusion>(name, native, text);
}
template <const QuantizedFusion& kFusion>
OpRow Depthwise(const char* name, const char* native, const Text& text) {
  return Row<ConvKind::kDepthwise, kFusion>(name, native, text);
}

#define TENON_QUANTIZED_RANGES \
  "min_input: float, max_input: float, min_filter: float, max_filter: float"
#define TENON_QUANTIZED_WINDOW \
  "strides: list(int); padding: string; dilations: list(int) = [1, 1, 1, 1]"

constexpr char kInputs[] = "input: Tinput, filter: Tfilter, " TENON_QUANTIZED_RANGES;
constexpr char kFrozenInputs[] = "input: Tinput, filter: Tfilter, " TENON_QUANTIZED_RANGES
                                 ", min_freezed_output: float, max_freezed_output: float";
constexpr char kBiasInputs[] =
    "input: Tinput, filter: Tfilter, bias: float, " TENON_QUANTIZED_RANGES;
constexpr char kBiasFrozenInputs[] =
    "input: Tinput, filter: Tfilter, bias: Tbias, " TENON_QUANTIZED_RANGES
    ", min_freezed_output: float, max_freezed_output: float";
constexpr char kSumInputs[] =
    "input: Tinput, filter: Tfilter, bias: float, " TENON_QUANTIZED_RANGES ", summand: float";
constexpr char kSumFrozenInputs[] =
    "input: Tinput, filter: Tfilter, bias: Tbias, " TENON_QUANTIZED_RANGES
    ", min_freezed_output: float, max_freezed_output: float, summand: Tsummand, "
    "min_summand: float, max_summand: float";

constexpr char kAttrs[] =
    "Tinput: type; Tfilter: type; out_type: type = qint32; " TENON_QUANTIZED_WINDOW;
constexpr char kPaddedAttrs[] =
    "Tinput: type; Tfilter: type; out_type: type = qint32; " TENON_QUANTIZED_WINDOW
    "; padding_list: list(int) = []";
constexpr char kSignedAttrs[] =
    "Tinput: type; Tfilter: type; out_type: type = qint8; " TENON_QUANTIZED_WINDOW
    "; padding_list: list(int) = []";
constexpr char kUnsignedAttrs[] =
    "Tinput: type; Tfilter: type; out_type: type = quint8; " TENON_QUANTIZED_WINDOW
    "; padding_list: list(int) = []";
constexpr char kBiasSignedAttrs[] =
    "Tinput: type; Tfilter: type; Tbias: type; out_type: type = qint8; " TENON_QUANTIZED_WINDOW
    "; padding_list: list(int) = []";
constexpr char kBiasUnsignedAttrs[] =
    "Tinput: type; Tfilter: type; Tbias: type; out_type: type = quint8; " TENON_QUANTIZED_WINDOW
    "; padding_list: list(int) = []";
constexpr char kSumAttrs[] =
    "Tinput: type; Tfilter: type; Tbias: type; Tsummand: type; "
    "out_type: type = quint8; " TENON_QUANTIZED_WINDOW "; padding_list: list(int) = []";

#undef TENON_QUANTIZED_RANGES
#undef TENON_QUANTIZED_WINDOW

constexpr char kWideTypes[] = "Tinput: quint8 qint8; Tfilter: qint8; out_type: qint32";
constexpr char kPlainTypes[] = "Tinput: quint8 qint8; Tfilter: qint8 quint8; out_type: qint32";
constexpr char kEightTypes[] =
    "Tinput: quint8 qint8; Tfilter: qint8; Tbias: float qint32; Tsummand: quint8 qint8; "
    "out_type: quint8 qint8";

constexpr Text kWide{kInputs, kAttrs, kWideTypes};
constexpr Text kWidePadded{kInputs, kPaddedAttrs, kWideTypes};
constexpr Text kWideBias{kBiasInputs, kPaddedAttrs, kWideTypes};
constexpr Text kSignedFrozen{kFrozenInputs, kSignedAttrs, kEightTypes};
constexpr Text kUnsignedFrozen{kFrozenInputs, kUnsignedAttrs, kEightTypes};
constexpr Text kSignedBias{kBiasFrozenInputs, kBiasSignedAttrs, kEightTypes};
constexpr Text kUnsignedBias{kBiasFrozenInputs, kBiasUnsignedAttrs, kEightTypes};
constexpr Text kSummed{kSumFrozenInputs, kSumAttrs, kEightTypes};

const OpRegistration kRows[] = {
    OpRegistration(Dense<kPlain>("QuantizedConv2D", "_MklNativeQuantizedConv2D",
                                 {kInputs, kAttrs, kPlainTypes})),
    OpRegistration(
        Dense<kPlain>("QuantizedConv2DPerChannel", "_MklNativeQuantizedConv2DPerChannel", kWide)),
    OpRegistration(
        Dense<kRelu>("QuantizedConv2DAndRelu", "_MklNativeQuantizedConv2DAndRelu", kWidePadded)),
    OpRegistration(Dense<kRequantize>("QuantizedConv2DAndRequantize",
                                      "_MklNativeQuantizedConv2DAndRequantize", kSignedFrozen)),
    OpRegistration(Dense<kReluRequantize>("QuantizedConv2DAndReluAndRequantize",
                                          "_MklNativeQuantizedConv2DAndReluAndRequantize",
                                          kUnsignedFrozen)),
    OpRegistration(
        Dense<kBias>("QuantizedConv2DWithBias", "_MklNativeQuantizedConv2DWithBias", kWideBias)),
    OpRegistration(Dense<kBiasRelu>("QuantizedConv2DWithBiasAndRelu",
                                    "_MklNativeQuantizedConv2DWithBiasAndRelu", kWideBias)),
    OpRegistration(Dense<kBiasRequantize>("QuantizedConv2DWithBiasAndRequantize",
                                          "_MklNativeQuantizedConv2DWithBiasAndRequantize",
                                          kSignedBias)),
    OpRegistration(Dense<kBiasReluRequantize>(
        "QuantizedConv2DWithBiasAndReluAndRequantize",
        "_MklNativeQuantizedConv2DWithBiasAndReluAndRequantize", kUnsignedBias)),
    OpRegistration(Dense<kBiasSumRelu>("QuantizedConv2DWithBiasSumAndRelu",
                                       "_MklNativeQuantizedConv2DWithBiasSumAndRelu",
                                       {kSumInputs, kPaddedAttrs, kWideTypes})),
    OpRegistration(Dense<kBiasSumReluRequantize>(
        "QuantizedConv2DWithBiasSumAndReluAndRequantize",
        "_MklNativeQuantizedConv2DWithBiasSumAndReluAndRequantize", kSummed)),
    OpRegistration(Dense<kBiasSumReluRequantize>(
        "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
        "_MklNativeQuantizedConv2DWithBiasSignedSumAndReluAndRequantize", kSummed)),
    OpRegistration(
        Depthwise<kPlain>("QuantizedDepthwiseConv2D", "_MklNativeQuantizedDepthwiseConv2D", kWide)),
    OpRegistration(Depthwise<kBias>("QuantizedDepthwiseConv2DWithBias",
                                    "_MklNativeQuantizedDepthwiseConv2DWithBias",
                                    {kBiasInputs, kAttrs, kWideTypes})),
    OpRegistration(Depthwise<kBiasRelu>("QuantizedDepthwiseConv2DWithBiasAndRelu",
                                        "_MklNativeQuantizedDepthwiseConv2DWithBiasAndRelu",
                                        kWideBias)),
    OpRegistration(Depthwise<kBiasReluRequantize>(
        "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
        "_MklNativeQuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", kUnsignedBias)),
};

}  // namespace
}  // namespace tenon
