// Contractions of dequantized 8-bit integers whose result is quantized again are computed on the
// integers:
//
//   QuantizeV2(relu(conv(Dequantize(x), Dequantize(w)) + b + Dequantize(s)))
//     = _FusedQuantizedConv2D(x, w, b, s)
//
// An integer q represents q * step + offset, where step is the scale. Weights have one scale per
// output channel and no offset. The offsets of data, summand and result add constants to the sum
// (the data's is multiplied by the sum of the channel's weights), so they are folded into the bias.
// If data are padded, or there is an activation, the offset must correspond to an integer zero
// point, which is an attribute of the op. If the result is needed in float, the same op ends with
// Dequantize. 8-bit constants are not folded earlier; those that no op took are folded last.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

using quantized::AttrOr;
using quantized::IsEightBits;
using quantized::Limit;
using quantized::ReadSource;
using quantized::Source;

// A contraction whose operands are 8-bit integers, with everything fused into it.
struct Region {
  const char* op = nullptr;
  Source data, weights;
  std::optional<Source> summand;
  std::optional<Endpoint> bias;
  bool relu = false;
  bool relu6 = false;
  bool swish = false;
  // the data's offset times the weights, per output channel; empty: none
  std::vector<float> shift;
  int64_t data_zero = 0;  // of padded data
  bool activation() const { return relu || relu6 || swish; }
};

// The weights' axis that has one scale per output channel.
int64_t ChannelAxisOfWeights(const Node& n, bool depthwise, bool matmul) {
  if (matmul) return AttrOr(n, "transpose_b", false) ? 0 : 1;
  return depthwise ? 2 : 3;
}

// Whether a window may extend beyond the data.
bool Pads(const Node& n, const Shape& filter) {
  const std::string padding = AttrOr<std::string>(n, "padding", "VALID");
  if (padding == "SAME") return filter[0] != 1 || filter[1] != 1;
  if (padding != "EXPLICIT") return false;
  const auto* pads = n.attr<std::vector<int64_t>>("explicit_paddings");
  return pads == nullptr ||
         std::any_of(pads->begin(), pads->end(), [](int64_t p) { return p != 0; });
}

// The offset times the sum of each output channel's weights.
std::vector<float> ShiftOf(float offset, const Tensor& weights, int64_t axis,
                           const std::vector<float>& steps) {
  int64_t inner = 1;
  for (int d = static_cast<int>(axis) + 1; d < weights.shape().rank(); ++d) {
    inner *= weights.shape()[d];
  }
  const int64_t channels = weights.shape()[static_cast<int>(axis)];
  std::vector<double> sums(static_cast<size_t>(channels), 0.0);
  const int8_t* const w = static_cast<const int8_t*>(weights.raw());
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    sums[static_cast<size_t>(i / inner % channels)] += w[i];
  }
  std::vector<float> shift;
  for (size_t c = 0; c < sums.size(); ++c) {
    shift.push_back(static_cast<float>(sums[c] * steps[steps.size() == 1 ? 0 : c] * offset));
  }
  return shift;
}

absl::StatusOr<Region> ReadRegion(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  Region region;
  const bool matmul = n.op == "MatMul" || n.op == "_FusedMatMul";
  const bool depthwise = absl::StrContains(n.op, "Depthwise");
  // op names: the replacements of this rule.
  region.op = matmul      ? "_QuantizedMatMul"
              : depthwise ? "_FusedQuantizedDepthwiseConv2D"
                          : "_FusedQuantizedConv2D";
  if (!matmul && AttrOr<std::string>(n, "data_format", "NHWC") != "NHWC") return WhyNot("not NHWC");
  TENON_ASSIGN_OR_RETURN(region.data, ReadSource(context, n.inputs[0]));
  TENON_ASSIGN_OR_RETURN(region.weights, ReadSource(context, n.inputs[1]));
  if (region.data.axis >= 0) return WhyNot("the data have more than one range");
  const Tensor* weights = context.Constant(region.weights.integers);
  if (weights == nullptr || weights->dtype() != DType::kQint8) {
    return WhyNot("the weights are no qint8 constant");
  }
  const int64_t channel_axis = ChannelAxisOfWeights(n, depthwise, matmul);
  if (weights->shape().rank() != (matmul ? 2 : 4)) return WhyNot("weights of another rank");
  if (region.weights.steps.size() > 1 &&
      (region.weights.axis != channel_axis ||
       std::ssize(region.weights.steps) != weights->shape()[static_cast<int>(channel_axis)])) {
    return WhyNot("the weights' ranges are not for each output channel");
  }
  if (depthwise && weights->shape()[3] != 1) return WhyNot("a channel multiplier");
  if (region.weights.offset != 0) return WhyNot("the weights' integer 0 does not stand for 0");
  if (region.data.offset != 0) {
    if (!matmul && Pads(n, weights->shape())) {
      const auto zero =
          quantized::ZeroOf(region.data.dtype, {region.data.steps[0], region.data.offset});
      if (!zero.has_value()) return WhyNot("no integer stands for 0 in the padded data");
      region.data_zero = *zero;
    } else {
      region.shift = ShiftOf(region.data.offset, *weights, channel_axis, region.weights.steps);
    }
  }

  size_t argument = 2;
  static const std::vector<std::string>* const kNone = new std::vector<std::string>;
  const auto* fused = n.attr<std::vector<std::string>>("fused_ops");
  for (const std::string& op : fused == nullptr ? *kNone : *fused) {
    const bool behind_relu = region.activation();
    const bool reads = op == "BiasAdd" || op == "Add";
    if (reads && argument >= n.inputs.size()) return WhyNot("fused_ops have too few arguments");
    if (op == "BiasAdd" && argument == 2 && !behind_relu) {
      const Shape& shape = context.shapes.shape(n.inputs[argument]);
      if (!shape.has_rank() || shape.rank() != 1) return WhyNot("the bias is no vector");
      region.bias = n.inputs[argument++];
    } else if (op == "Add" && !behind_relu && !region.summand.has_value()) {
      const Endpoint e = n.inputs[argument++];
      const Shape &own = context.shapes.shape({id, 0}), &other = context.shapes.shape(e);
      if (!own.has_rank() || own != other) return WhyNot("the summand may have another shape");
      TENON_ASSIGN_OR_RETURN(region.summand, ReadSource(context, e));
      if (region.summand->axis >= 0) return WhyNot("the summand has more than one range");
    } else if (op == "Relu" && !behind_relu) {
      region.relu = true;
    } else if (op == "_Swish" && !behind_relu) {
      region.swish = true;
    } else if (op == "Relu6" && !behind_relu) {
      region.relu6 = true;
    } else {
      return WhyNot(absl::StrCat(op, " does not go into a quantized contraction"));
    }
  }
  return region;
}

// The bias with all offsets folded in.
absl::StatusOr<std::optional<Endpoint>> BiasOf(RuleContext& context, NodeId contraction,
                                               const Region& region, float result_offset,
                                               const std::string& name) {
  const float constant = (region.summand.has_value() ? region.summand->offset : 0) - result_offset;
  if (region.shift.empty() && constant == 0) return region.bias;
  const Node& n = context.node(contraction);
  const Tensor* weights = context.Constant(region.weights.integers);
  const int64_t axis = ChannelAxisOfWeights(n, absl::StrContains(n.op, "Depthwise"),
                                            absl::StrContains(n.op, "MatMul"));
  std::vector<float> bias(static_cast<size_t>(weights->shape()[static_cast<int>(axis)]), constant);
  if (region.bias.has_value()) {
    const Tensor* own = context.Constant(*region.bias);
    if (own == nullptr || own->num_elements() != static_cast<int64_t>(bias.size())) {
      return WhyNot("offsets, and a bias that is not constant");
    }
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += own->data<float>()[c];
  }
  for (size_t c = 0; c < region.shift.size(); ++c) bias[c] += region.shift[c];
  return Endpoint{context.AddConst(absl::StrCat(name, "/bias"), Tensor::Vector(std::move(bias))),
                  0};
}

// Adds the fused op. `result`: the scale of the 8-bit result (its offset is added before the
// activation), or float; `zero` is added after the activation.
absl::StatusOr<NodeId> AddFused(RuleContext& context, NodeId contraction, const Region& region,
                                DType result, const quantized::Scale& scale, int64_t zero,
                                const std::string& name) {
  TENON_ASSIGN_OR_RETURN(const std::optional<Endpoint> bias,
                         BiasOf(context, contraction, region, scale.offset, name));
  const Node& n = context.node(contraction);
  Node fused;
  fused.name = name;
  fused.op = region.op;
  for (const char* attr :
       {"strides", "padding", "explicit_paddings", "dilations", "transpose_a", "transpose_b"}) {
    if (auto it = n.attrs.find(attr); it != n.attrs.end()) fused.attrs[attr] = it->second;
  }
  std::vector<std::string> ops;
  std::vector<DType> devices{region.data.dtype, region.weights.dtype};
  fused.inputs = {region.data.integers, region.weights.integers};
  if (bias.has_value()) {
    ops.push_back("BiasAdd");
    devices.push_back(DType::kFloat);
    fused.inputs.push_back(*bias);
  }
  if (region.summand.has_value()) {
    ops.push_back("Sum");
    devices.push_back(region.summand->dtype);
    fused.inputs.push_back(region.summand->integers);
  }
  if (region.relu || region.relu6) ops.push_back("Relu");
  if (region.swish) ops.push_back("_Swish");
  const bool requantize = result != DType::kFloat;
  ops.push_back(requantize ? "Requantize" : "Dequantize");

  int ranges = 0;
  auto add_range = [&](DType dtype, const std::vector<float>& max) {
    std::vector<float> min;
    for (float v : max) min.push_back(dtype == DType::kQuint8 ? 0.0f : -v);
    for (const std::vector<float>& side : {min, max}) {
      Tensor t = side.size() == 1 ? Tensor::Scalar(side[0]) : Tensor::Vector(side);
      fused.inputs.push_back({context.AddConst(absl::StrCat(name, "/range"), std::move(t)), 0});
      ++ranges;
    }
  };
  auto add_source = [&](const Source& s) {
    std::vector<float> max;
    for (float step : s.steps) max.push_back(step * Limit(s.dtype));
    add_range(s.dtype, max);
  };
  add_source(region.data);
  add_source(region.weights);
  if (region.summand.has_value()) add_source(*region.summand);
  if (requantize) add_range(result, {scale.step * Limit(result)});

  const bool matmul = fused.op == "_QuantizedMatMul";
  fused.attrs[matmul ? "T1" : "Tinput"] = region.data.dtype;
  fused.attrs[matmul ? "T2" : "Tfilter"] = region.weights.dtype;
  fused.attrs["Tbias"] = DType::kFloat;
  fused.attrs[matmul ? "Tout" : "out_type"] = result;
  if (region.summand.has_value()) {
    fused.attrs[matmul ? "U" : "Tsummand"] = region.summand->dtype;
  }
  if (!matmul) fused.attrs["data_zero"] = region.data_zero;
  fused.attrs["result_zero"] = zero;
  fused.attrs["fused_ops"] = ops;
  fused.attrs["Tdevice_inputs"] = devices;
  fused.attrs["Thost_inputs"] = std::vector<DType>(static_cast<size_t>(ranges), DType::kFloat);
  fused.attrs["Tdevice_outputs"] = std::vector<DType>{result};
  fused.attrs["Thost_outputs"] = std::vector<DType>(requantize ? 2 : 0, DType::kFloat);
  return context.AddNode(std::move(fused));
}

Outcome ToInteger(RuleContext& context, NodeId id) {
  const Node& q = context.node(id);
  const NodeId contraction = q.inputs[0].node;
  const OnIntegers kind = FactsOf(context.Candidate(contraction).op).on_integers;
  if (kind != OnIntegers::kContraction && kind != OnIntegers::kFusedContraction) {
    return Outcome::NotMine();
  }
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, std::string(reason), contraction);
  };
  const DType result = AttrOr(q, "T", DType::kInvalid);
  if (!IsEightBits(result)) return skip("the QuantizeV2 is not to 8 bits");
  if (!context.HasOnlyReader(contraction, id)) return Outcome::NotMine();
  const auto target = quantized::ReadTarget(context, id);
  if (!target.ok()) return skip(target.status().message());
  const auto region = ReadRegion(context, contraction);
  if (!region.ok()) return skip(region.status().message());
  quantized::Scale scale = target->scale;
  const std::string name = q.name;
  // Where the range ends at the bound, saturation implements it.
  const float top = scale.offset + scale.step * Limit(result);
  int64_t zero = 0;
  if (region->activation() && scale.offset != 0) {
    const auto found = quantized::ZeroOf(result, scale);
    if (!found.has_value()) return skip("no integer stands for 0 after the activation");
    zero = *found;
    scale.offset = 0;
  }
  if (region->relu6 && !(top <= 6.0f * 1.000001f)) return skip("the range goes beyond 6");

  const auto fused = AddFused(context, contraction, *region, result, scale, zero, name);
  if (!fused.ok()) return skip(fused.status().message());
  quantized::ReplaceQuantize(context, id, {*fused, 0}, *target);
  return Outcome::Fired();
}

const RuleRegistration to_integer({
    .name = "FuseQuantizedRegion",
    .doc = "a contraction between Dequantize and QuantizeV2 is computed on 8-bit integers",
    .phase = Phase::kFuse,
    .anchors = "QuantizeV2",
    .apply = ToInteger,
});

Outcome ToFloat(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.inputs.size() < 2 || context.node(n.inputs[0]).op != "Dequantize" ||
      context.node(n.inputs[1]).op != "Dequantize") {
    return Outcome::NotMine();
  }
  const auto region = ReadRegion(context, id);
  if (!region.ok()) return Outcome::Skip(2, std::string(region.status().message()), id);
  if (region->relu6 || region->summand.has_value()) {
    return Outcome::Skip(2, "Relu6 or a summand, and a float result", id);
  }
  const std::string name = n.name;
  const std::vector<Endpoint> inputs(n.inputs.begin(), n.inputs.end());
  const auto fused = AddFused(context, id, *region, DType::kFloat, {}, 0, name);
  if (!fused.ok()) return Outcome::Skip(2, std::string(fused.status().message()), id);
  context.rw.ReplaceNode(id, {*fused, 0});
  for (const Endpoint& e : inputs) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return Outcome::Fired();
}

const RuleRegistration to_float({
    .name = "FuseQuantizedContraction",
    .doc = "a contraction after Dequantize is computed on 8-bit integers, with a float result",
    .phase = Phase::kFuse,
    .anchors = "Conv2D|_FusedConv2D|DepthwiseConv2dNative|_FusedDepthwiseConv2dNative|MatMul|"
               "_FusedMatMul",
    .apply = ToFloat,
    .last = true,
});

Outcome FoldDequantized(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  std::vector<Tensor> inputs;
  for (const Endpoint& e : n.inputs) {
    const Tensor* t = context.Constant(e);
    if (t == nullptr) return Outcome::NotMine();
    inputs.push_back(*t);
  }
  auto values = Evaluate(n, inputs, context.services);
  if (!values.ok()) return Outcome::NotMine();
  const std::string name = n.name;
  const std::vector<Endpoint> sources(n.inputs.begin(), n.inputs.end());
  context.rw.ReplaceNode(id, {context.AddConst(name, std::move((*values)[0])), 0});
  for (const Endpoint& e : sources) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return Outcome::Fired();
}

const RuleRegistration fold_dequantized({
    .name = "FoldDequantized",
    .doc = "Dequantize of constants that no quantized op took is folded",
    .phase = Phase::kFuse,
    .anchors = "Dequantize",
    .apply = FoldDequantized,
    .after = "FuseQuantizedContraction",
    .last = true,
});

}  // namespace
}  // namespace tenon
