#include "runtime/quantize/insert.h"

#include <algorithm>
#include <cmath>

#include "env/containers.h"
#include "env/status.h"

namespace tenon {
namespace {

// Adds a QuantizeV2 of `tensor` and a Dequantize of its result; returns the Dequantize.
absl::StatusOr<NodeId> AddPair(RuleContext& context, Endpoint tensor, const GroupRange& range) {
  const std::string name = context.node(tensor).name;
  const NodeId min =
      context.AddConst(absl::StrCat(name, "/quantize/min"), Tensor::Scalar(range.low));
  const NodeId max =
      context.AddConst(absl::StrCat(name, "/quantize/max"), Tensor::Scalar(range.high));
  const char* const mode = range.has_zero_point() ? "MIN_COMBINED" : "SCALED";
  Node quantize;
  quantize.name = absl::StrCat(name, "/quantize");
  quantize.op = "QuantizeV2";
  quantize.inputs = {tensor, {min, 0}, {max, 0}};
  quantize.attrs["T"] = range.dtype;
  quantize.attrs["mode"] = mode;
  if (!range.has_zero_point()) quantize.attrs["round_mode"] = "HALF_TO_EVEN";
  quantize.attrs["ensure_minimum_range"] = 0.0f;
  TENON_ASSIGN_OR_RETURN(const NodeId q, context.AddNode(std::move(quantize)));
  Node dequantize;
  dequantize.name = absl::StrCat(name, "/dequantize");
  dequantize.op = "Dequantize";
  dequantize.inputs = {{q, 0}, {q, 1}, {q, 2}};
  dequantize.attrs["T"] = range.dtype;
  dequantize.attrs["mode"] = mode;
  return context.AddNode(std::move(dequantize));
}

// Adds a qint8 constant and its Dequantize, with one range per output channel.
absl::StatusOr<NodeId> AddWeights(RuleContext& context, const Layer& layer) {
  const Tensor weights = *context.Constant(layer.weights);
  const std::string name = layer.name;
  int64_t inner = 1;
  for (int d = layer.channel_axis + 1; d < weights.shape().rank(); ++d) inner *= weights.shape()[d];
  const int64_t channels = weights.shape()[layer.channel_axis];
  auto channel = [&](int64_t i) { return static_cast<size_t>(i / inner % channels); };
  std::vector<float> top(static_cast<size_t>(channels), 0.0f);
  const float* w = weights.data<float>();
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    top[channel(i)] = std::max(top[channel(i)], std::fabs(w[i]));
  }
  std::vector<float> bottom;
  for (float& v : top) {
    if (v < 1e-30f) v = 1;  // all zeros
    bottom.push_back(-v);
  }
  TENON_ASSIGN_OR_RETURN(Tensor q, Tensor::Allocate(DType::kQint8, weights.shape()));
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    const float v = std::nearbyint(w[i] / (top[channel(i)] / 127.0f));
    static_cast<int8_t*>(q.raw())[i] = static_cast<int8_t>(std::clamp(v, -127.0f, 127.0f));
  }
  const NodeId integers = context.AddConst(absl::StrCat(name, "/weights"), std::move(q));
  const NodeId min =
      context.AddConst(absl::StrCat(name, "/weights/min"), Tensor::Vector(std::move(bottom)));
  const NodeId max =
      context.AddConst(absl::StrCat(name, "/weights/max"), Tensor::Vector(std::move(top)));
  Node dequantize;
  dequantize.name = absl::StrCat(name, "/weights/dequantize");
  dequantize.op = "Dequantize";
  dequantize.inputs = {{integers, 0}, {min, 0}, {max, 0}};
  dequantize.attrs["T"] = DType::kQint8;
  dequantize.attrs["mode"] = "SCALED";
  dequantize.attrs["narrow_range"] = true;
  dequantize.attrs["axis"] = layer.channel_axis;
  return context.AddNode(std::move(dequantize));
}

const GroupRange& RangeOf(const QuantizedTensor& t, const std::vector<GroupRange>& ranges) {
  return ranges[static_cast<size_t>(t.group)];
}

absl::StatusOr<Endpoint> AddOp(RuleContext& context, const std::string& name, const char* op,
                               absl::Span<const Endpoint> inputs) {
  Node n;
  n.name = name;
  n.op = op;
  n.inputs.assign(inputs.begin(), inputs.end());
  n.attrs["T"] = DType::kFloat;
  TENON_ASSIGN_OR_RETURN(const NodeId id, context.AddNode(std::move(n)));
  return Endpoint{id, 0};
}

// Adds the sum of all elements.
absl::StatusOr<Endpoint> AddSum(RuleContext& context, const std::string& name, Endpoint e) {
  const Endpoint flat{context.AddConst(name, Tensor::Vector<int32_t>({-1})), 0};
  TENON_ASSIGN_OR_RETURN(const Endpoint row, AddOp(context, name, "Reshape", {e, flat}));
  const Endpoint axis{context.AddConst(name, Tensor::Scalar<int32_t>(0)), 0};
  return AddOp(context, name, "Sum", {row, axis});
}

}  // namespace

absl::Status InsertPairs(RuleContext& context, const std::vector<Layer>& layers,
                         const Scheme& scheme, const std::vector<GroupRange>& ranges) {
  for (const Layer& layer : layers) {
    if (!layer.kept.empty()) continue;
    TENON_ASSIGN_OR_RETURN(const NodeId weights, AddWeights(context, layer));
    context.rw.SetInput(layer.node, 1, {weights, 0});
    context.RemoveIfDead(layer.weights.node);
  }
  for (const QuantizedTensor& t : scheme.tensors) {
    const absl::Span<const Use> found = context.rw.uses(t.tensor.node);
    const std::vector<Use> uses(found.begin(), found.end());
    TENON_ASSIGN_OR_RETURN(const NodeId pair, AddPair(context, t.tensor, RangeOf(t, ranges)));
    for (const Use& use : uses) {
      if (use.is_control() || use.port != t.tensor.port) continue;
      if (NeedsExactValues(context, use.reader)) continue;
      context.rw.SetInput(use.reader, use.slot, {pair, 0});
    }
  }
  return absl::OkStatus();
}

absl::Status InsertMeasures(RuleContext& context, const std::vector<Layer>& layers,
                            const Scheme& scheme, const std::vector<GroupRange>& ranges,
                            std::vector<GraphOutput>& outputs) {
  HashMap<Endpoint, NodeId> pairs;
  for (const QuantizedTensor& t : scheme.tensors) {
    TENON_ASSIGN_OR_RETURN(pairs[t.tensor], AddPair(context, t.tensor, RangeOf(t, ranges)));
  }
  outputs.clear();
  for (const Layer& layer : layers) {
    if (!layer.kept.empty()) continue;
    // The Pads in between, applied to the dequantized data, the outermost last.
    std::vector<Node> pads;
    for (Endpoint e = context.node(layer.node).inputs[0]; e != layer.data;) {
      pads.push_back(context.node(e));
      e = pads.back().inputs[0];
    }
    Endpoint data{pairs[layer.data], 0};
    for (auto pad = pads.rbegin(); pad != pads.rend(); ++pad) {
      pad->inputs[0] = data;
      data = {context.rw.AddNode(std::move(*pad)), 0};
    }
    TENON_ASSIGN_OR_RETURN(const NodeId weights, AddWeights(context, layer));
    Node copy = context.node(layer.node);
    copy.inputs = {data, {weights, 0}};
    const Endpoint exact{layer.node, 0}, rounded{context.rw.AddNode(std::move(copy)), 0};
    const std::string name = absl::StrCat(layer.name, "/measure");
    TENON_ASSIGN_OR_RETURN(const Endpoint d,
                           AddOp(context, name, "SquaredDifference", {exact, rounded}));
    TENON_ASSIGN_OR_RETURN(const Endpoint error, AddSum(context, name, d));
    TENON_ASSIGN_OR_RETURN(const Endpoint s, AddOp(context, name, "Square", {exact}));
    TENON_ASSIGN_OR_RETURN(const Endpoint size, AddSum(context, name, s));
    outputs.push_back({absl::StrCat(layer.name, "/error"), error});
    outputs.push_back({absl::StrCat(layer.name, "/size"), size});
  }
  return absl::OkStatus();
}

}  // namespace tenon
