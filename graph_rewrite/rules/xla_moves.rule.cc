// XlaDynamicSlice at constant positions is a Slice; XlaPad of a border alone is a PadV2. The plans,
// fusions and facts of these ops then apply.
#include <vector>

#include "graph_rewrite/elements.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// XLA moves a block into the tensor, and Slice refuses one outside of it.
absl::Status LiesInside(const Match& match) {
  RuleContext& context = match.context();
  const std::vector<int64_t> starts = ConstantIntegers(context, match.at("b"));
  const std::vector<int64_t> sizes = ConstantIntegers(context, match.at("s"));
  if (starts.empty() || starts.size() != sizes.size()) {
    return WhyNot("position and size are not constant");
  }
  const Shape& whole = match.shape("x");
  for (size_t i = 0; i < starts.size(); ++i) {
    if (sizes[i] < 0 || starts[i] < 0) return WhyNot("a position or size is negative");
    if (starts[i] == 0) continue;  // then it fits, or the op has an error anyway
    if (!whole.has_rank() || whole.rank() != static_cast<int>(starts.size())) {
      return WhyNot("the tensor's rank is not known");
    }
    const int64_t size = whole.dim(static_cast<int>(i));
    if (size < 0 || starts[i] > size - sizes[i]) {
      return WhyNot("the block is not known to lie within the tensor");
    }
  }
  return absl::OkStatus();
}

const RuleRegistration slice({
    .name = "SliceOfXla",
    .doc = "XlaDynamicSlice of a constant block within the tensor becomes a Slice",
    .phase = Phase::kFold,
    .pattern = "%b = Const() %s = Const() %y = XlaDynamicSlice(%x, %b, %s)",
    .replacement = "%y = Slice(%x, %b, %s)",
    .dtypes = "",
    .when = LiesInside,
});

absl::Status IsBorder(const Match& match) {
  RuleContext& context = match.context();
  const std::vector<int64_t> low = ConstantIntegers(context, match.at("l"));
  const std::vector<int64_t> high = ConstantIntegers(context, match.at("h"));
  const std::vector<int64_t> interior = ConstantIntegers(context, match.at("i"));
  if (low.empty() || low.size() != high.size() || low.size() != interior.size()) {
    return WhyNot("the paddings are not constant");
  }
  for (size_t d = 0; d < low.size(); ++d) {
    if (low[d] < 0 || high[d] < 0) return WhyNot("it removes elements");
    if (interior[d] != 0) return WhyNot("it pads between elements");
  }
  return absl::OkStatus();
}

absl::Status JoinPaddings(const Match& match, Replacement& replacement) {
  RuleContext& context = match.context();
  const std::vector<int64_t> low = ConstantIntegers(context, match.at("l"));
  const std::vector<int64_t> high = ConstantIntegers(context, match.at("h"));
  std::vector<int64_t> pads;
  for (size_t d = 0; d < low.size(); ++d) {
    pads.push_back(low[d]);
    pads.push_back(high[d]);
  }
  replacement.SetConst(
      "p", Tensor::From<int64_t>(Shape({static_cast<int64_t>(low.size()), 2}), std::move(pads)));
  return absl::OkStatus();
}

const RuleRegistration xla_pad({
    .name = "PadOfXla",
    .doc = "XlaPad of a constant border becomes a PadV2",
    .phase = Phase::kFold,
    .pattern = "%l = Const() %h = Const() %i = Const() %y = XlaPad(%x, %v, %l, %h, %i)",
    .replacement = "%y = PadV2(%x, %p, %v)",
    .dtypes = "",
    .when = IsBorder,
    .fold = JoinPaddings,
});

}  // namespace
}  // namespace tenon
