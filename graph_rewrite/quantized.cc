#include "graph_rewrite/quantized.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "ops/evaluate.h"

namespace tenon::quantized {
namespace {

constexpr int64_t kMostDimensions = 254;  // TensorFlow's limit

// An offset that differs from 0 only by rounding is 0.
float WithoutRounding(float offset, float step) {
  return std::fabs(offset) <= 1e-4f * step ? 0.0f : offset;
}

// A range input: a constant, or an output of a QuantizeV2 with constant ranges.
absl::StatusOr<Tensor> RangeValue(RuleContext& context, Endpoint e) {
  if (const Tensor* t = context.Constant(e); t != nullptr) return *t;
  const Node& n = context.node(e);
  if (n.op != "QuantizeV2" || e.port == 0 || AttrOr<int64_t>(n, "axis", -1) >= 0) {
    return WhyNot("a range is not constant");
  }
  const Tensor* min = context.Constant(n.inputs[1]);
  const Tensor* max = context.Constant(n.inputs[2]);
  if (min == nullptr || max == nullptr) return WhyNot("a range is not constant");
  TENON_ASSIGN_OR_RETURN(Tensor none, Tensor::Allocate(DType::kFloat, Shape({0})));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> out,
                         Evaluate(n, {none, *min, *max}, context.services));
  return out[static_cast<size_t>(e.port)];
}

// For a QuantizeV2 that outputs the range [min, max].
absl::StatusOr<Scale> ScaleOf(const Node& quantize, const Tensor& min, const Tensor& max) {
  if (AttrOr<int64_t>(quantize, "axis", -1) >= 0) return WhyNot("more than one range");
  // Shapes are checked later.
  if (min.num_elements() != 1 || max.num_elements() != 1) return WhyNot("a range is no number");
  const float low = min.data<float>()[0], high = max.data<float>()[0];
  const DType dtype = AttrOr(quantize, "T", DType::kInvalid);
  Scale scale;
  if (AttrOr<std::string>(quantize, "mode", "") == "SCALED") {
    scale.step = high / Limit(dtype);
    return scale;
  }
  scale.step = (high - low) / 255;
  scale.offset = WithoutRounding(low + (dtype == DType::kQint8 ? 128 * scale.step : 0), scale.step);
  return scale;
}

}  // namespace

bool PoolsPixels(const Node& pool) {
  const std::string padding = AttrOr<std::string>(pool, "padding", "");
  if (AttrOr<std::string>(pool, "data_format", "NHWC") != "NHWC" ||
      (padding != "SAME" && padding != "VALID")) {
    return false;
  }
  for (const char* name : {"ksize", "strides"}) {
    const auto* sizes = pool.attr<std::vector<int64_t>>(name);
    if (sizes == nullptr || sizes->size() != 4 || sizes->front() != 1 || sizes->back() != 1) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<Target> ReadTarget(RuleContext& context, NodeId quantize) {
  Target target;
  const Node& n = context.node(quantize);
  if (AttrOr(n, "narrow_range", false) && AttrOr(n, "T", DType::kInvalid) == DType::kQint8) {
    return WhyNot("its range is narrow, which leaves out the lowest integer");
  }
  TENON_ASSIGN_OR_RETURN(target.min, RangeValue(context, {quantize, 1}));
  TENON_ASSIGN_OR_RETURN(target.max, RangeValue(context, {quantize, 2}));
  TENON_ASSIGN_OR_RETURN(target.scale, ScaleOf(context.node(quantize), target.min, target.max));
  return target;
}

std::optional<int64_t> ZeroOf(DType dtype, Scale scale) {
  const float zero = -scale.offset / scale.step, whole = std::nearbyint(zero);
  const float lowest = dtype == DType::kQuint8 ? 0 : -128;
  if (!(std::fabs(zero - whole) <= 1e-3f && whole >= lowest && whole <= lowest + 255)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(whole);
}

absl::StatusOr<Source> ReadSource(RuleContext& context, Endpoint e) {
  const Node& n = context.Candidate(e);
  if (n.op != "Dequantize" || e.port != 0) return WhyNot(absl::StrCat(n.op, " is no Dequantize"));
  Source s;
  s.integers = n.inputs[0];
  s.dtype = AttrOr(n, "T", DType::kInvalid);
  s.axis = AttrOr<int64_t>(n, "axis", -1);
  if (!IsEightBits(s.dtype) || AttrOr(n, "dtype", DType::kFloat) != DType::kFloat) {
    return WhyNot("a Dequantize is not from 8 bits to float");
  }
  if (s.axis >= kMostDimensions) return WhyNot("an axis that no tensor has");
  TENON_ASSIGN_OR_RETURN(const Tensor min, RangeValue(context, n.inputs[1]));
  TENON_ASSIGN_OR_RETURN(const Tensor max, RangeValue(context, n.inputs[2]));
  if (min.num_elements() == 0) return WhyNot("there is no range");
  Shape shape({min.num_elements()});
  for (int64_t i = 0; i < s.axis; ++i) shape.insert(0, 1);
  // The numbers that 0 and a large integer represent; using 1 would give the scale less accurately.
  std::vector<Tensor> worth;
  constexpr uint8_t kLarge = 100;
  for (uint8_t integer : {uint8_t{0}, kLarge}) {
    TENON_ASSIGN_OR_RETURN(Tensor integers, Tensor::Allocate(s.dtype, shape));
    for (int64_t i = 0; i < integers.num_elements(); ++i) integers.data<uint8_t>()[i] = integer;
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> values,
                           Evaluate(n, {integers, min, max}, context.services));
    worth.push_back(std::move(values[0]));
  }
  for (int64_t i = 0; i < min.num_elements(); ++i) {
    const float zero = worth[0].data<float>()[i],
                step = (worth[1].data<float>()[i] - zero) / kLarge;
    if (!(step > 0)) return WhyNot("a range is empty");
    s.steps.push_back(step);
    const float offset = WithoutRounding(zero, step);
    if (s.axis >= 0 && offset != 0)
      return WhyNot("ranges for slices that do not have the integer 0 for 0");
    s.offset = offset;
  }
  return s;
}

void AddRange(RuleContext& context, const std::string& name, DType dtype, float step, Node& node) {
  const float top = step * Limit(dtype);
  for (float v : {dtype == DType::kQuint8 ? 0.0f : -top, top}) {
    node.inputs.push_back({context.AddConst(absl::StrCat(name, "/range"), Tensor::Scalar(v)), 0});
  }
}

void ReplaceQuantize(RuleContext& context, NodeId quantize, Endpoint integers,
                     const Target& target) {
  const std::string name = absl::StrCat(context.node(quantize).name, "/range");
  context.rw.ReplaceAllUses({quantize, 0}, integers);
  for (int port : {1, 2}) {
    const Endpoint e{quantize, port};
    if (context.rw.NumReaders(e) == 0 && !context.rw.IsOutput(e)) continue;
    context.rw.ReplaceAllUses(e, {context.AddConst(name, port == 1 ? target.min : target.max), 0});
  }
  context.RemoveIfDead(quantize);
}

}  // namespace tenon::quantized
