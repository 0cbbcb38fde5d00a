// Between a Dequantize and a QuantizeV2 with the same scale, no float is needed. The two alone
// cancel; an op between them that only selects elements and zeros (max pool, zero pad, reshape,
// transpose, concatenation, slice), or an average pool, becomes an op on integers.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

using quantized::AttrOr;
using quantized::Source;

bool IsPool(const Node& n) { return FactsOf(n.op).on_integers == OnIntegers::kPools; }
bool IsPad(const Node& n) { return FactsOf(n.op).on_integers == OnIntegers::kPads; }
bool IsJoin(const Node& n) { return FactsOf(n.op).on_integers == OnIntegers::kJoins; }
// One of these, or the same op on integers with all inputs but the first as they are.
bool IsMove(const Node& n) {
  const OnIntegers kind = FactsOf(n.op).on_integers;
  return kind == OnIntegers::kRearranges || kind == OnIntegers::kSelects || IsPool(n) || IsPad(n) ||
         IsJoin(n);
}

bool SameStep(const Source& source, DType dtype, const quantized::Scale& scale) {
  if (source.dtype != dtype || source.axis >= 0) return false;
  return std::fabs(scale.step - source.steps[0]) <= 1e-6f * scale.step &&
         std::fabs(scale.offset - source.offset) <= 1e-3f * scale.step;
}

// The inputs of an op whose elements become integers; the other inputs are parameters.
// FailedPrecondition for other forms.
absl::StatusOr<std::vector<Endpoint>> MovedInputs(const RuleContext& context, const Node& n) {
  if (IsJoin(n)) {
    if (n.inputs.size() < 2) return WhyNot("no inputs");
    return std::vector<Endpoint>(n.inputs.begin(), n.inputs.end() - 1);
  }
  if (IsPool(n) && !quantized::PoolsPixels(n)) return WhyNot("a pool of another form");
  if (n.op == "PadV2") {
    const Tensor* fill = context.Constant(n.inputs[2]);
    if (fill == nullptr || fill->dtype() != DType::kFloat || fill->num_elements() != 1 ||
        fill->data<float>()[0] != 0) {
      return WhyNot("a pad with another value than 0");
    }
  }
  return std::vector<Endpoint>{n.inputs[0]};
}

// The same op on integers; `zero` is the zero point.
absl::StatusOr<Node> NodeOnIntegers(RuleContext& context, const Node& n, DType dtype, int64_t zero,
                                    const std::vector<Endpoint>& integers,
                                    const quantized::Target& target) {
  Node moved;
  moved.name = n.name;
  moved.attrs["T"] = dtype;
  moved.inputs.assign(integers.begin(), integers.end());
  if (IsPool(n)) {
    moved.op = "Quantized" + n.op;
    for (const char* attr : {"ksize", "strides", "padding"}) {
      moved.attrs[attr] = n.attrs.find(attr)->second;
    }
    const std::string range = n.name + "/range";
    const NodeId low = context.AddConst(range, target.min),
                 high = context.AddConst(range, target.max);
    moved.inputs.insert(moved.inputs.end(), {{low, 0}, {high, 0}});
    return moved;
  }
  if (IsPad(n)) {
    moved.op = zero == 0 ? "Pad" : "PadV2";
    moved.attrs["Tpaddings"] = AttrOr(n, "Tpaddings", DType::kInt32);
    moved.inputs.push_back(n.inputs[1]);
    if (zero != 0) {
      TENON_ASSIGN_OR_RETURN(Tensor fill, Tensor::Allocate(dtype, Shape()));
      *static_cast<uint8_t*>(fill.raw()) = static_cast<uint8_t>(zero);
      moved.inputs.push_back({context.AddConst(n.name + "/zero", std::move(fill)), 0});
    }
    return moved;
  }
  moved.op = n.op;
  moved.attrs = n.attrs;
  moved.attrs["T"] = dtype;
  moved.inputs.insert(moved.inputs.end(), n.inputs.begin() + static_cast<int64_t>(integers.size()),
                      n.inputs.end());
  return moved;
}

Outcome Move(RuleContext& context, NodeId id) {
  const Node& q = context.node(id);
  const DType dtype = AttrOr(q, "T", DType::kInvalid);
  if (!quantized::IsEightBits(dtype)) return Outcome::NotMine();
  const Node& before = context.Candidate(q.inputs[0]);
  const bool moves = IsMove(before);
  // op names: of integers from 0 on, the step to integers ends where Relu and Relu6 do.
  const bool nothing = before.op == "Dequantize" ||
                       (dtype == DType::kQuint8 && (before.op == "Relu" || before.op == "Relu6"));
  if (!moves && !nothing) return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, std::string(reason), before.id);
  };
  std::vector<Endpoint> inputs{before.op == "Dequantize" ? q.inputs[0] : before.inputs[0]};
  if (moves) {
    auto moved = MovedInputs(context, before);
    if (!moved.ok()) return skip(moved.status().message());
    inputs = *std::move(moved);
  }
  const auto target = quantized::ReadTarget(context, id);
  if (!target.ok()) return skip(target.status().message());
  const quantized::Scale scale = target->scale;
  const float top = scale.offset + scale.step * quantized::Limit(dtype);
  if (before.op == "Relu6" && !(top <= 6 * 1.000001f)) return skip("the range goes beyond 6");
  if (nothing && before.op != "Dequantize" && scale.offset != 0) return skip("0 is no integer 0");
  const auto zero = quantized::ZeroOf(dtype, scale);
  if (IsPad(before) && !zero.has_value()) {
    return skip("no integer stands for 0");
  }
  std::vector<Endpoint> integers;
  for (const Endpoint& e : inputs) {
    const auto source = quantized::ReadSource(context, e);
    if (!source.ok()) return skip(source.status().message());
    if (!SameStep(*source, dtype, scale)) return skip("the steps before and behind differ");
    integers.push_back(source->integers);
  }
  Endpoint result = integers[0];
  if (moves) {
    auto moved = NodeOnIntegers(context, before, dtype, zero.value_or(0), integers, *target);
    if (!moved.ok()) return skip(moved.status().message());
    const auto added = context.AddNode(*std::move(moved));
    if (!added.ok()) return skip(added.status().message());
    result = {*added, 0};
  }
  quantized::ReplaceQuantize(context, id, result, *target);
  return Outcome::Fired();
}

const RuleRegistration move({
    .name = "KeepIntegers",
    .doc = "nothing, or a pool, zero pad, reshape, transpose, concatenation or slice, between "
           "Dequantize and QuantizeV2 with the same scale, works on integers",
    .phase = Phase::kFuse,
    .anchors = "QuantizeV2",
    .apply = Move,
});

}  // namespace
}  // namespace tenon
