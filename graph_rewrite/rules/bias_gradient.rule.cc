// A convolution's filter gradient and bias gradient read the same tensor: oneDNN computes both in
// one pass over it.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Whether the node sums `dy` [N, H, W, C] (or NCHW) over all but its channels.
bool IsBiasGradient(const RuleContext& context, const Node& n, const std::string& format) {
  if (n.op == "BiasAddGrad") {
    const std::string* own = n.attr<std::string>("data_format");
    return own != nullptr && *own == format;
  }
  // Keras adds biases by broadcasting.
  if (n.op != "Sum" || n.inputs.size() != 2) return false;
  const bool* keep_dims = n.attr<bool>("keep_dims");
  const Tensor* axes = context.Constant(n.inputs[1]);
  if (axes == nullptr || (keep_dims != nullptr && *keep_dims)) return false;
  auto values = IntegerValues(*axes);
  if (!values.ok()) return false;
  for (int64_t& v : *values) v = v < 0 ? v + 4 : v;
  std::sort(values->begin(), values->end());
  return *values ==
         (format == "NHWC" ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0, 2, 3});
}

Outcome JoinBiasGradient(RuleContext& context, NodeId id) {
  const Node& gradient = context.node(id);
  const std::string* format = gradient.attr<std::string>("data_format");
  if (format == nullptr || gradient.inputs.size() != 3) return Outcome::NotMine();
  const Endpoint dy = gradient.inputs[2];
  NodeId bias = kNoNode;
  for (const Use& use : context.rw.uses(dy.node)) {
    if (use.is_control() || use.slot != 0 || use.port != dy.port) continue;
    if (IsBiasGradient(context, context.node(use.reader), *format)) bias = use.reader;
  }
  if (bias == kNoNode) return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, absl::StrCat("'", context.node(bias).name, "' (BiasAddGrad): ", reason),
                         bias);
  };
  if (!context.IsUnordered(id) || !context.IsUnordered(bias)) return Outcome::NotMine();
  if (context.rw.DependsOn(id, bias)) return skip("the filter's gradient depends on it");

  Node joined;
  joined.name = gradient.name;
  joined.op = "_Conv2DBackpropFilterWithBias";
  joined.device = gradient.device;
  joined.inputs = gradient.inputs;
  joined.attrs = gradient.attrs;
  auto added = context.AddNode(std::move(joined));
  if (!added.ok()) return Outcome::Skip(2, std::string(added.status().message()));
  context.rw.ReplaceAllUses({bias, 0}, {*added, 1});
  context.RemoveIfDead(bias);
  context.rw.ReplaceNode(id, {*added, 0});
  return Outcome::Fired();
}

const RuleRegistration bias_gradient({
    .name = "FuseConv2DBiasGradient",
    .doc = "Conv2DBackpropFilter and the BiasAddGrad (or Sum) of the same gradient",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "Conv2DBackpropFilter",
    .apply = JoinBiasGradient,
});

}  // namespace
}  // namespace tenon
