// Quantization-aware training leaves FakeQuant ops on the data and on the constant weights of
// contractions. Where their ranges are constant and say what mode SCALED can say, they become
// Dequantize of integers, which the rules on quantized regions take from there:
//
//   FakeQuant(x; 0 .. 255 s)        = Dequantize(QuantizeV2(x; quint8))
//   FakeQuant(w; -127 s .. 127 s)   = Dequantize(a qint8 constant)
//
// Data must have 0 as the lowest step (they stand behind Relu or Relu6), so that the two round
// alike; the integers of weights are computed from what FakeQuant gives.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"
#include "ops/evaluate.h"
#include "ops/quant/nudged_range.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

using quantized::AttrOr;

absl::Status No(absl::string_view reason) { return absl::FailedPreconditionError(reason); }

bool IsFakeQuant(const Node& n) {
  return n.op == "FakeQuantWithMinMaxVars" || n.op == "FakeQuantWithMinMaxArgs" ||
         n.op == "FakeQuantWithMinMaxVarsPerChannel";
}

// The ranges of a FakeQuant of 8 bits, one for each channel or one for all.
absl::StatusOr<std::vector<Nudged>> ReadRanges(const RuleContext& context, const Node& n) {
  if (!n.control_inputs.empty()) return No("control inputs");
  if (AttrOr<int64_t>(n, "num_bits", 8) != 8) return No("not 8 bits");
  std::vector<float> low{AttrOr(n, "min", -6.0f)}, high{AttrOr(n, "max", 6.0f)};
  if (n.op != "FakeQuantWithMinMaxArgs") {
    const Tensor* min = context.Constant(n.inputs[1]);
    const Tensor* max = context.Constant(n.inputs[2]);
    if (min == nullptr || max == nullptr) return No("a range is not constant");
    if (min->num_elements() != max->num_elements()) return No("ranges of unequal sizes");
    low.assign(min->flat<float>().begin(), min->flat<float>().end());
    high.assign(max->flat<float>().begin(), max->flat<float>().end());
  }
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(AttrReader(n)));
  std::vector<Nudged> ranges;
  for (size_t i = 0; i < low.size(); ++i) {
    if (!(low[i] <= 0 && high[i] >= 0 && low[i] < high[i])) return No("a range without 0");
    ranges.emplace_back(FloatRange{low[i], high[i]}, steps);
    if (!std::isnormal(ranges.back().scale)) return No("a range that is too small or too large");
  }
  return ranges;
}

struct Data {
  NodeId fake_quant = kNoNode;  // none: a Dequantize stands there already
  float max = 0;
};

absl::StatusOr<Data> ReadData(const RuleContext& context, const Node& contraction) {
  const Node* n = &context.node(contraction.inputs[0]);
  if (n->op == "Pad") n = &context.node(n->inputs[0]);
  if (n->op == "Dequantize") return Data();
  if (!IsFakeQuant(*n)) return No(absl::StrCat("the data come from ", n->op));
  TENON_ASSIGN_OR_RETURN(const std::vector<Nudged> ranges, ReadRanges(context, *n));
  if (ranges.size() != 1) return No("the data have more than one range");
  if (AttrOr(*n, "narrow_range", false)) return No("the data have a narrow range");
  if (ranges[0].point != 0) return No("the data have other steps than multiples from 0 on");
  return Data{n->id, ranges[0].max};
}

struct Weights {
  Tensor integers, max;  // what the integer 127 stands for
};

absl::StatusOr<Weights> ReadWeights(const RuleContext& context, const Node& contraction) {
  const Node& n = context.node(contraction.inputs[1]);
  if (!IsFakeQuant(n)) return No(absl::StrCat("the weights come from ", n.op));
  const Tensor* const plain = context.Constant(n.inputs[0]);
  if (plain == nullptr || plain->num_elements() == 0) return No("the weights are not constant");
  TENON_ASSIGN_OR_RETURN(const std::vector<Nudged> ranges, ReadRanges(context, n));
  const bool last_is_output =
      !absl::StrContains(contraction.op, "Depthwise") && !AttrOr(contraction, "transpose_b", false);
  if (ranges.size() > 1 && !last_is_output) return No("ranges that are not for output channels");
  std::vector<Tensor> inputs;
  for (const Endpoint& e : n.inputs) inputs.push_back(*context.Constant(e));
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> rounded, Evaluate(n, inputs, context.services));

  Weights w;
  TENON_ASSIGN_OR_RETURN(w.integers, Tensor::Allocate(DType::kQint8, plain->shape()));
  const size_t channels = ranges.size();
  std::vector<float> max;
  for (const Nudged& r : ranges) {
    if (r.point != 128) return No("the weights' steps are not symmetric about 0");
    max.push_back(127 * r.scale);
  }
  const float* const value = rounded[0].data<float>();
  for (int64_t i = 0; i < plain->num_elements(); ++i) {
    const float k = std::round(value[i] / ranges[static_cast<size_t>(i) % channels].scale);
    if (!(k >= -128 && k <= 127)) return No("the weights have NaN");
    w.integers.data<int8_t>()[i] = static_cast<int8_t>(k);
  }
  w.max = channels == 1 ? Tensor::Scalar(max[0]) : Tensor::Vector(std::move(max));
  return w;
}

absl::StatusOr<NodeId> AddDequantize(RuleContext& context, const std::string& name,
                                     const std::vector<Endpoint>& inputs, DType dtype,
                                     int64_t axis) {
  Node n;
  n.name = name;
  n.op = "Dequantize";
  n.inputs.assign(inputs.begin(), inputs.end());
  n.attrs["T"] = dtype;
  n.attrs["mode"] = "SCALED";
  n.attrs["axis"] = axis;
  return context.AddNode(std::move(n));
}

absl::Status ReplaceData(RuleContext& context, const Data& data) {
  if (data.fake_quant == kNoNode) return absl::OkStatus();
  const std::string name = context.node(data.fake_quant).name;
  const std::vector<Endpoint> inputs(context.node(data.fake_quant).inputs.begin(),
                                     context.node(data.fake_quant).inputs.end());
  Node q;
  q.name = name + "/quantized";
  q.op = "QuantizeV2";
  q.inputs = {inputs[0],
              {context.AddConst(name + "/min", Tensor::Scalar(0.0f)), 0},
              {context.AddConst(name + "/max", Tensor::Scalar(data.max)), 0}};
  q.attrs["T"] = DType::kQuint8;
  q.attrs["mode"] = "SCALED";
  q.attrs["ensure_minimum_range"] = 0.0f;
  TENON_ASSIGN_OR_RETURN(const NodeId integers, context.AddNode(std::move(q)));
  TENON_ASSIGN_OR_RETURN(const NodeId real,
                         AddDequantize(context, name, {{integers, 0}, {integers, 1}, {integers, 2}},
                                       DType::kQuint8, -1));
  context.rw.ReplaceNode(data.fake_quant, {real, 0});
  for (const Endpoint& e : inputs) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return absl::OkStatus();
}

absl::Status ReplaceWeights(RuleContext& context, NodeId contraction, Weights w) {
  const NodeId old = context.node(contraction).inputs[1].node;
  const std::string name = context.node(old).name + "/integers";
  const int64_t axis = w.max.shape().rank() == 0 ? -1 : w.integers.shape().rank() - 1;
  TENON_ASSIGN_OR_RETURN(Tensor min, w.max.Clone());
  for (float& v : min.flat<float>()) v = -v;
  const Endpoint q{context.AddConst(name, std::move(w.integers)), 0};
  const Endpoint low{context.AddConst(name + "/min", std::move(min)), 0};
  const Endpoint high{context.AddConst(name + "/max", std::move(w.max)), 0};
  TENON_ASSIGN_OR_RETURN(const NodeId real, AddDequantize(context, name + "/real", {q, low, high},
                                                          DType::kQint8, axis));
  context.rw.SetInput(contraction, 1, {real, 0});
  context.RemoveIfDead(old);
  return absl::OkStatus();
}

Outcome ToIntegers(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.inputs.size() < 2 || !IsFakeQuant(context.node(n.inputs[1]))) return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) { return Outcome::Skip(1, std::string(reason), id); };
  if (!HasExactInt8()) return skip("8-bit products are not exact on this CPU");
  if (AttrOr<std::string>(n, "data_format", "NHWC") != "NHWC") return skip("not NHWC");
  const auto data = ReadData(context, n);
  if (!data.ok()) return skip(data.status().message());
  auto weights = ReadWeights(context, n);
  if (!weights.ok()) return skip(weights.status().message());
  const absl::Status weights_done = ReplaceWeights(context, id, *std::move(weights));
  if (!weights_done.ok()) return skip(weights_done.message());
  const absl::Status data_done = ReplaceData(context, *data);
  return data_done.ok() ? Outcome::Fired() : skip(data_done.message());
}

const RuleRegistration to_integers({
    .name = "FakeQuantToIntegers",
    .doc = "FakeQuant (8 bits, constant ranges) on a contraction's data, from 0, and on its "
           "constant weights, symmetric, becomes Dequantize of integers",
    .phase = Phase::kClean,
    .anchors = "Conv2D|DepthwiseConv2dNative|MatMul",
    .apply = ToIntegers,
});

}  // namespace
}  // namespace tenon
