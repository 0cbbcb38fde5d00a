// Between a Dequantize and a QuantizeV2 of the same step nothing needs to become a float: the two
// alone are nothing, and a max pool between them is one of integers.
#include <cmath>
#include <string>
#include <utility>

#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

using quantized::AttrOr;
using quantized::Source;

// The step of a QuantizeV2 whose range is [min, max], as it gives it.
bool SameStep(const Source& source, DType dtype, const Tensor& max) {
  if (source.dtype != dtype || source.axis >= 0) return false;
  const float step = max.data<float>()[0] / quantized::Limit(dtype);
  return std::fabs(step - source.steps[0]) <= 1e-6f * step;
}

Outcome Move(RuleContext& context, NodeId id) {
  const Node& q = context.node(id);
  const DType dtype = AttrOr(q, "T", DType::kInvalid);
  if (!quantized::IsEightBits(dtype) || !quantized::IsScaled(q) || !q.control_inputs.empty() ||
      AttrOr(q, "narrow_range", false)) {
    return Outcome::NotMine();
  }
  const NodeId pool = context.node(q.inputs[0]).op == "MaxPool" ? q.inputs[0].node : kNoNode;
  const Endpoint from = pool == kNoNode ? q.inputs[0] : context.node(pool).inputs[0];
  if (context.node(from).op != "Dequantize") return Outcome::NotMine();
  auto skip = [&](std::string reason) { return Outcome::Skip(2, std::move(reason), from.node); };
  const auto source = quantized::ReadSource(context, from);
  if (!source.ok()) return skip(std::string(source.status().message()));
  const auto min = quantized::RangeValue(context, {id, 1});
  const auto max = quantized::RangeValue(context, {id, 2});
  if (!min.ok() || !max.ok() || !SameStep(*source, dtype, *max)) {
    return skip("the steps before and behind differ");
  }
  Endpoint integers = source->integers;
  if (pool != kNoNode) {
    const Node& n = context.node(pool);
    const std::string padding = AttrOr<std::string>(n, "padding", "");
    if (AttrOr<std::string>(n, "data_format", "NHWC") != "NHWC" ||
        (padding != "SAME" && padding != "VALID") || !n.control_inputs.empty()) {
      return skip("a max pool of another form");
    }
    Node moved;
    moved.name = n.name;
    moved.op = "QuantizedMaxPool";
    moved.attrs["T"] = dtype;
    for (const char* attr : {"ksize", "strides", "padding"}) {
      moved.attrs[attr] = n.attrs.find(attr)->second;
    }
    const std::string range = n.name + "/range";
    const NodeId low = context.AddConst(range, *min), high = context.AddConst(range, *max);
    moved.inputs = {integers, {low, 0}, {high, 0}};
    const auto added = context.AddNode(std::move(moved));
    if (!added.ok()) return skip(std::string(added.status().message()));
    integers = {*added, 0};
  }
  quantized::ReplaceQuantize(context, id, integers, *min, *max);
  return Outcome::Fired();
}

const RuleRegistration move({
    .name = "KeepIntegers",
    .doc = "nothing, or a max pool, between Dequantize and QuantizeV2 of the same step",
    .phase = Phase::kFuse,
    .anchors = "QuantizeV2",
    .apply = Move,
});

}  // namespace
}  // namespace tenon
