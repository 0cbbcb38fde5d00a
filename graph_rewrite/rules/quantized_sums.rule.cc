// Sums and means of dequantized 8-bit integers:
//
//   QuantizeV2(Relu(Dequantize(a) + Dequantize(b))) = _ScaledAdd(a, b)
//   Mean(Dequantize(x))                             = _ScaledMean(x)
//
// An integer q represents q * step + offset, where step is the scale. Offsets are attributes of the
// ops, and so is the integer at which relu clips a sum.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"
#include "ops/evaluate.h"

namespace tenon {
namespace {

using quantized::AttrOr;
using quantized::Limit;
using quantized::Source;

// Whether 0, which sums often are exactly, lies halfway between two integers.
bool ZeroIsATie(quantized::Scale scale) {
  const float zero = -scale.offset / scale.step;
  return std::fabs(zero - std::floor(zero) - 0.5f) <= 1e-3f;
}

Outcome AddIntegers(RuleContext& context, NodeId id) {
  const Node& q = context.node(id);
  const DType dtype = AttrOr(q, "T", DType::kInvalid);
  if (!quantized::IsEightBits(dtype)) return Outcome::NotMine();
  const Node& last = context.Candidate(q.inputs[0]);
  const bool relu6 = last.op == "Relu6", relu = relu6 || last.op == "Relu";
  const Node& add = relu ? context.Candidate(last.inputs[0]) : last;
  const NodeId activation = last.id, sum = add.id;
  if (add.op != "AddV2" && add.op != "Add") return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) { return Outcome::Skip(2, std::string(reason), sum); };
  if ((relu && !context.HasOnlyReader(sum, activation)) || !context.HasOnlyReader(activation, id)) {
    return Outcome::NotMine();
  }
  const auto target = quantized::ReadTarget(context, id);
  if (!target.ok()) return skip(target.status().message());
  const quantized::Scale scale = target->scale;
  const auto zero = quantized::ZeroOf(dtype, scale);
  if (relu && !zero.has_value()) return skip("no integer stands for 0 after the activation");
  if (!relu && ZeroIsATie(scale)) return skip("0 lies halfway between two integers");
  if (relu6 && !(scale.offset + scale.step * Limit(dtype) <= 6 * 1.000001f)) {
    return skip("the range goes beyond 6");
  }
  if (!context.shapes.SameShape(add.inputs[0], add.inputs[1])) return skip("shapes may differ");
  std::vector<Source> sources;
  for (const Endpoint& e : add.inputs) {
    auto source = quantized::ReadSource(context, e);
    if (!source.ok()) return skip(source.status().message());
    if (source->axis >= 0) return skip("a summand has more than one range");
    sources.push_back(*std::move(source));
  }

  Node fused;
  fused.name = q.name;
  fused.op = "_ScaledAdd";
  fused.inputs = {sources[0].integers, sources[1].integers};
  fused.attrs["Ta"] = sources[0].dtype;
  fused.attrs["Tb"] = sources[1].dtype;
  fused.attrs["T"] = dtype;
  fused.attrs["relu"] = relu;
  fused.attrs["zero"] = relu ? *zero : int64_t{0};
  const std::string name = q.name;
  fused.attrs["offset"] = sources[0].offset + sources[1].offset - scale.offset;
  for (const Source& s : sources) quantized::AddRange(context, name, s.dtype, s.steps[0], fused);
  quantized::AddRange(context, name, dtype, scale.step, fused);
  const auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return skip(added.status().message());
  quantized::ReplaceQuantize(context, id, {*added, 0}, *target);
  return Outcome::Fired();
}

const RuleRegistration add_integers({
    .name = "AddIntegers",
    .doc =
        "a sum, or relu of a sum, between Dequantize and QuantizeV2 is computed on 8-bit integers",
    .phase = Phase::kFuse,
    .anchors = "QuantizeV2",
    .apply = AddIntegers,
});

// Whether the reduced axes are not adjacent, as far as shapes tell.
bool StandApart(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> mask(static_cast<size_t>(rank), false);
  for (int64_t a : axes) {
    const int64_t axis = a < 0 ? a + rank : a;
    if (axis < 0 || axis >= rank) return true;
    mask[static_cast<size_t>(axis)] = true;
  }
  int runs = 0;
  for (size_t i = 0; i < mask.size(); ++i) runs += mask[i] && (i == 0 || !mask[i - 1]) ? 1 : 0;
  return runs != 1;
}

Outcome MeanOfIntegers(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const NodeId before = n.inputs[0].node;
  if (context.Candidate(before).op != "Dequantize") return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, std::string(reason), before);
  };
  const auto source = quantized::ReadSource(context, n.inputs[0]);
  if (!source.ok()) return skip(source.status().message());
  if (source->axis >= 0) return skip("more than one range");
  const Tensor* const value = context.Constant(n.inputs[1]);
  const Shape& shape = context.shapes.shape(n.inputs[0]);
  if (value == nullptr || !shape.has_rank()) return skip("the axes are not known");
  const auto axes = IntegerValues(*value);
  if (!axes.ok() || StandApart(*axes, shape.rank())) return skip("the axes are not adjacent");

  Node mean;
  mean.name = n.name;
  mean.op = "_ScaledMean";
  mean.inputs = {source->integers, n.inputs[1]};
  mean.attrs["keep_dims"] = AttrOr(n, "keep_dims", false);
  mean.attrs["T"] = source->dtype;
  mean.attrs["Tidx"] = AttrOr(n, "Tidx", DType::kInt32);
  const std::string name = n.name;
  mean.attrs["offset"] = source->offset;
  quantized::AddRange(context, name, source->dtype, source->steps[0], mean);
  const auto added = context.AddNode(std::move(mean));
  if (!added.ok()) return skip(added.status().message());
  context.rw.ReplaceNode(id, {*added, 0});
  if (context.graph().Has(before)) context.RemoveIfDead(before);
  return Outcome::Fired();
}

const RuleRegistration mean_of_integers({
    .name = "MeanOfIntegers",
    .doc = "a mean after Dequantize, over adjacent axes, reads the 8-bit integers",
    .phase = Phase::kFuse,
    .anchors = "Mean",
    .apply = MeanOfIntegers,
});

}  // namespace
}  // namespace tenon
