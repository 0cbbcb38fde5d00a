// Computes moments, and the sums in the gradient of a normalization, in one pass over memory each:
//
//   m = mean(x), v = mean(squared_difference(x, m))   ->  _Moments
//   sum(g), sum(g * x)                                ->  _GradientSums
//
// where g may be the gradient of a Relu or Relu6, which is then computed on the fly.
#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"
#include "kernels/interface/axis.h"

namespace tenon {
namespace {

// The axes that a reduction keeps; they are adjacent.
struct Kept {
  int begin = 0, end = 0;
  bool keep_dims = false;
  friend bool operator==(const Kept&, const Kept&) = default;
};

constexpr int64_t kLeastRow = 128;  // for shorter rows, separate ops are as fast

std::optional<Kept> KeptBy(const RuleContext& context, const Node& reduction, const Shape& x) {
  const Tensor* axes = context.Constant(reduction.inputs[1]);
  if (axes == nullptr || !x.has_rank()) return std::nullopt;
  const auto values = IntegerValues(*axes);
  if (!values.ok()) return std::nullopt;
  const auto mask = AxisMask(*values, x.rank());
  if (!mask.ok()) return std::nullopt;
  const auto first = std::find(mask->begin(), mask->end(), false);
  const auto last = std::find(first, mask->end(), true);
  if (std::find(last, mask->end(), false) != mask->end()) return std::nullopt;
  int64_t row = 1;
  for (int d = static_cast<int>(last - mask->begin()); d < x.rank() && row >= 0; ++d) {
    row = MulDims(row, x.dim(d));
  }
  if (row > 1 && row < kLeastRow) return std::nullopt;
  const bool* keep_dims = reduction.attr<bool>("keep_dims");
  return Kept{static_cast<int>(first - mask->begin()), static_cast<int>(last - mask->begin()),
              keep_dims != nullptr && *keep_dims};
}

constexpr char kApart[] =
    "the kept axes are not adjacent or not known, or the rows after them have few elements";

absl::Status KeepsNeighbors(const Match& match) {
  if (KeptBy(match.context(), match.node("v"), match.shape("x"))) return absl::OkStatus();
  return WhyNot(kApart);
}

absl::Status SetChannels(const Match& match, Replacement& replacement) {
  const auto kept = KeptBy(match.context(), match.node("v"), match.shape("x"));
  replacement.SetAttr("n", "begin", int64_t{kept->begin});
  replacement.SetAttr("n", "end", int64_t{kept->end});
  return absl::OkStatus();
}

// Last, because a normalization that is fused as a whole does not need it.
const RuleRegistration moments({
    .name = "FuseMoments",
    .doc = "mean and variance over the same axes",
    .phase = Phase::kFuse,
    .pattern = "%m = Mean(%x, %i) {keep_dims=true} %q = SquaredDifference(%x, %m)"
               " %v = Mean(%q, %i) {keep_dims=true} out m = %m out v = %v",
    .replacement = "%n = _Moments(%x) {keep_dims=true} out m = %n out v = %n:1",
    .dtypes = "float",
    .when = KeepsNeighbors,
    .fold = SetChannels,
    .last = true,
});

struct StatisticsParts {
  NodeId sum = kNoNode, product = kNoNode, product_sum = kNoNode;
  Endpoint g{kNoNode, 0}, x{kNoNode, 0};
  Kept kept;
};

// Finds a sum of one of the product's factors over the same axes.
bool FindOtherSum(RuleContext& context, StatisticsParts& parts) {
  const Node& product = context.node(parts.product);
  for (size_t i : {0u, 1u}) {
    for (const Use& use : context.rw.uses(product.inputs[i].node)) {
      const Node& reader = context.node(use.reader);
      if (use.is_control() || use.slot != 0 || use.port != product.inputs[i].port) continue;
      if (reader.op != "Sum" || reader.inputs.size() != 2) continue;
      const Shape& shape = context.shapes.shape(product.inputs[i]);
      if (KeptBy(context, reader, shape) != std::optional<Kept>(parts.kept)) continue;
      parts.sum = use.reader;
      parts.g = product.inputs[i];
      parts.x = product.inputs[1 - i];
      return true;
    }
  }
  return false;
}

// The activation behind whose gradient g is, where no more than one elementwise op reads it beside
// the two sums: that op can compute it, too. op names: values of the attribute activation_mode.
std::string ActivationOf(RuleContext& context, const StatisticsParts& parts) {
  const Node& g = context.node(parts.g);
  if ((g.op != "ReluGrad" && g.op != "Relu6Grad") || !context.IsUnordered(g.id) ||
      context.rw.IsKept(g.id)) {
    return "Identity";
  }
  int others = 0;
  for (const Use& use : context.rw.uses(g.id)) {
    if (use.reader == parts.sum || use.reader == parts.product) continue;
    if (context.node(use.reader).op != "Mul") return "Identity";
    ++others;
  }
  if (others > 1) return "Identity";
  return g.op == "ReluGrad" ? "Relu" : "Relu6";  // op names: as above
}

Outcome FuseGradientSums(RuleContext& context, NodeId id) {
  StatisticsParts parts;
  parts.product_sum = id;
  const Node& root = context.node(id);
  if (root.inputs.size() != 2) return Outcome::NotMine();
  parts.product = root.inputs[0].node;
  const Node& product = context.node(parts.product);
  if (product.op != "Mul" || product.inputs.size() != 2) return Outcome::NotMine();
  const auto skip = [&](absl::string_view why, NodeId blame) {
    return Outcome::Skip(2, std::string(why), blame);
  };
  const auto kept = KeptBy(context, root, context.shapes.shape(root.inputs[0]));
  if (!kept) return skip(kApart, id);
  parts.kept = *kept;
  if (!FindOtherSum(context, parts)) return skip("no factor is summed, too", parts.product);
  if (!context.HasOnlyReader(parts.product, id)) return Outcome::NotMine();
  for (const NodeId n : {parts.product, parts.sum, id}) {
    if (!context.IsUnordered(n)) return Outcome::NotMine();
  }
  if (!context.shapes.SameShape(parts.g, parts.x)) {
    return skip("the factors may be broadcast", parts.product);
  }
  if (context.rw.DependsOn(parts.x.node, parts.sum)) {
    return skip("a factor depends on the sum of the other", parts.product);
  }

  const std::string activation = ActivationOf(context, parts);
  const bool gated = activation != "Identity";
  const Node& g = context.node(parts.g);
  Node fused;
  fused.name = root.name;
  fused.op = "_GradientSums";
  fused.device = root.device;
  fused.inputs = gated ? decltype(fused.inputs){g.inputs[0], parts.x, g.inputs[1]}
                       : decltype(fused.inputs){parts.g, parts.x, parts.x};
  fused.attrs["T"] = DType::kFloat;
  fused.attrs["activation"] = activation;
  fused.attrs["begin"] = int64_t{parts.kept.begin};
  fused.attrs["end"] = int64_t{parts.kept.end};
  fused.attrs["keep_dims"] = parts.kept.keep_dims;
  auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return skip(added.status().message(), id);
  context.rw.ReplaceAllUses({parts.sum, 0}, {*added, 0});
  context.RemoveIfDead(parts.sum);
  context.rw.ReplaceNode(id, {*added, 1});
  context.RemoveIfDead(parts.product);
  return Outcome::Fired();
}

const RuleRegistration gradient_sums({
    .name = "FuseGradientSums",
    .doc =
        "sum(g) and sum(g * x) over the same axes, where g may be the gradient of a Relu or Relu6",
    .phase = Phase::kFuse,
    .dtypes = "float",
    .anchors = "Sum",
    .apply = FuseGradientSums,
    .after = "FuseConv2DBiasGradient",  // which may need the same Sum
});

}  // namespace
}  // namespace tenon
