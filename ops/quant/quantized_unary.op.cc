// QuantizedRelu, QuantizedRelu6, QuantizedReluX: the range stays the same.
#include "kernels/quantized/relu.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

template <ReluBound kBound>
absl::Status ReluShape(ShapeContext& c) {
  const int range = ReluRangeInput(kBound);
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, range, range + 1}));
  return UnchangedAndScalarsShape(c);
}

constexpr char kReluOutputs[] =
    "activations: out_type, min_activations: float, max_activations: float";

constexpr char kReluTypes[] = "Tinput: quint8 qint32; out_type: quint8 qint32";

const OpRegistration relu({
    .name = "QuantizedRelu",
    .inputs = "features: Tinput, min_features: float, max_features: float",
    .outputs = kReluOutputs,
    .attrs = "Tinput: type; out_type: type = quint8",
    .types = kReluTypes,
    .shape = ReluShape<ReluBound::kNone>,
    .reference = QuantizedReluKernel<ReluBound::kNone>,
});

const OpRegistration relu6({
    .name = "QuantizedRelu6",
    .inputs = "features: Tinput, min_features: float, max_features: float",
    .outputs = kReluOutputs,
    .attrs = "Tinput: type; out_type: type = quint8",
    .types = kReluTypes,
    .shape = ReluShape<ReluBound::kSix>,
    .reference = QuantizedReluKernel<ReluBound::kSix>,
});

const OpRegistration relu_x({
    .name = "QuantizedReluX",
    .inputs = "features: Tinput, max_value: float, min_features: float, max_features: float",
    .outputs = kReluOutputs,
    .attrs = "Tinput: type; out_type: type = quint8",
    .types = kReluTypes,
    .shape = ReluShape<ReluBound::kInput>,
    .reference = QuantizedReluKernel<ReluBound::kInput>,
});

}  // namespace
}  // namespace tenon
