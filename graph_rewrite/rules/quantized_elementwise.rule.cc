// Elementwise ops right before a QuantizeV2 compute integers directly:
//
//   QuantizeV2(Relu(x * a + b)) = _FusedElementwiseToIntegers(x, a, b)
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/op.h"

namespace tenon {
namespace {

using quantized::AttrOr;

// The program of a fused or a single op; empty if it has none, or may still join other ops.
std::vector<std::string> ProgramOf(RuleContext& context, const Node& n) {
  if (n.op == "_FusedElementwise") return *n.attr<std::vector<std::string>>("program");
  const ElementwiseInfo* const info = FindElementwise(n.op);
  const OpLookup op = info == nullptr ? OpLookup() : FindOp(n.op);
  if (!op || op.native || !op.info->row.elementwise || info->parameter != nullptr ||
      static_cast<int>(n.inputs.size()) != info->arity()) {
    return {};
  }
  std::string text = n.op;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const Node& source = context.node(n.inputs[i]);
    const OpLookup before = FindOp(source.op);
    if (before && before.info->row.elementwise && context.OnlyReader(source.id) == n.id) return {};
    if (std::find(n.inputs.begin(), n.inputs.begin() + static_cast<int64_t>(i), n.inputs[i]) !=
        n.inputs.begin() + static_cast<int64_t>(i)) {
      return {};  // one input used twice
    }
    absl::StrAppend(&text, " $", i);
  }
  return {text};
}

Outcome ToIntegers(RuleContext& context, NodeId id) {
  const Node& q = context.node(id);
  const DType dtype = AttrOr(q, "T", DType::kInvalid);
  if (!quantized::IsEightBits(dtype)) return Outcome::NotMine();
  const Node& before = context.Candidate(q.inputs[0]);
  std::vector<std::string> program = ProgramOf(context, before);
  if (program.empty()) return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, std::string(reason), before.id);
  };
  if (!context.HasOnlyReader(before.id, id)) return Outcome::NotMine();
  for (const Endpoint& e : before.inputs) {
    if (context.shapes.dtype(e) != DType::kFloat) return skip("an input is not float");
  }
  const auto target = quantized::ReadTarget(context, id);
  if (!target.ok()) return skip(target.status().message());
  const quantized::Scale scale = target->scale;
  if (!(scale.step > 0)) return skip("an empty range");
  const auto zero = quantized::ZeroOf(dtype, scale);
  if (!zero.has_value()) return skip("no integer stands for 0");
  if (AttrOr(q, "narrow_range", false) && dtype == DType::kQint8) return skip("a narrow range");

  Node fused;
  fused.name = q.name;
  fused.op = "_FusedElementwiseToIntegers";
  fused.inputs.assign(before.inputs.begin(), before.inputs.end());
  fused.attrs["N"] = static_cast<int64_t>(before.inputs.size());
  fused.attrs["T"] = dtype;
  fused.attrs["program"] = std::move(program);
  fused.attrs["step"] = scale.step;
  fused.attrs["zero"] = *zero;
  // In other modes, rounding of ties depends on the position of 0, so any rounding of them is as
  // good.
  fused.attrs["half_to_even"] =
      *zero != 0 || AttrOr<std::string>(q, "round_mode", "") == "HALF_TO_EVEN";
  const auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return skip(added.status().message());
  quantized::ReplaceQuantize(context, id, {*added, 0}, *target);
  return Outcome::Fired();
}

const RuleRegistration to_integers({
    .name = "ElementwiseToIntegers",
    .doc = "elementwise ops before a QuantizeV2 compute 8-bit integers directly",
    .phase = Phase::kFuse,
    .anchors = "QuantizeV2",
    .apply = ToIntegers,
    .after = "FuseElementwise",  // which makes programs as long as possible
    .last = true,
});

}  // namespace
}  // namespace tenon
