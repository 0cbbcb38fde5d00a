// QuantizedRelu, QuantizedRelu6, QuantizedReluX: the range stays as it is.

#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

enum class Bound { kNone, kSix, kInput };

// Where the range stands among the inputs: behind the bound of ReluX.
constexpr int RangeInput(Bound bound) { return bound == Bound::kInput ? 2 : 1; }

template <Bound kBound>
absl::Status ReluShape(ShapeContext& c) {
  const int range = RangeInput(kBound);
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {1, range, range + 1}));
  return UnchangedAndScalarsShape(c);
}

template <Bound kBound>
absl::StatusOr<std::unique_ptr<Kernel>> Relu(PrepareContext& p) {
  if (p.input_dtype(0) != p.output_dtype(0)) {
    return InvalidArgument("out_type must be ", Name(p.input_dtype(0)), ", is ",
                           Name(p.output_dtype(0)));
  }
  const DType dtype = p.input_dtype(0);
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return MakeKernel([n, dtype](RunContext& r) -> absl::Status {
    const FloatRange range = ScalarRange(r, RangeInput(kBound));
    const bool known = VisitQuantized(dtype, [&]<typename T>() {
      const T low = QuantizeValue<T>(0.0f, range);
      T high = std::numeric_limits<T>::max();
      if (kBound == Bound::kSix) high = QuantizeValue<T>(6.0f, range);
      if (kBound == Bound::kInput) high = QuantizeValue<T>(r.input<float>(1)[0], range);
      for (int64_t i = 0; i < n; ++i) {
        r.output<T>(0)[i] = std::min(std::max(r.input<T>(0)[i], low), high);
      }
    });
    SetRange(r, 1, range);
    return known ? absl::OkStatus() : NotQuantized(dtype);
  });
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
    .shape = ReluShape<Bound::kNone>,
    .reference = Relu<Bound::kNone>,
});
const OpRegistration relu6({
    .name = "QuantizedRelu6",
    .inputs = "features: Tinput, min_features: float, max_features: float",
    .outputs = kReluOutputs,
    .attrs = "Tinput: type; out_type: type = quint8",
    .types = kReluTypes,
    .shape = ReluShape<Bound::kSix>,
    .reference = Relu<Bound::kSix>,
});
const OpRegistration relu_x({
    .name = "QuantizedReluX",
    .inputs = "features: Tinput, max_value: float, min_features: float, max_features: float",
    .outputs = kReluOutputs,
    .attrs = "Tinput: type; out_type: type = quint8",
    .types = kReluTypes,
    .shape = ReluShape<Bound::kInput>,
    .reference = Relu<Bound::kInput>,
});

}  // namespace
}  // namespace tenon
