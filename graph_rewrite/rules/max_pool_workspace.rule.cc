// A max pool and its gradient in one graph: the pool records the positions of its largest elements,
// so that the gradient need not find them again (it would read the pool's whole input).
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

constexpr int64_t kMaxWindow = 256;  // the workspace has one byte per position

std::string WorkspaceObstacle(const Node& pool, const Node& grad) {
  for (const char* name :
       {"ksize", "strides", "padding", "explicit_paddings", "data_format", "T"}) {
    const auto a = pool.attrs.find(name), b = grad.attrs.find(name);
    const bool both = a != pool.attrs.end() && b != grad.attrs.end();
    if (!both || !(a->second == b->second)) return absl::StrCat("their ", name, " differ");
  }
  const std::string* format = pool.attr<std::string>("data_format");
  if (format == nullptr || *format != "NHWC") return "channels are not last";
  const auto* ksize = pool.attr<std::vector<int64_t>>("ksize");
  int64_t window = 1;
  for (const int64_t k : ksize == nullptr ? std::vector<int64_t>{} : *ksize) {
    if (k < 1 || k > kMaxWindow) return "the window is large";
    window *= k;
    if (window > kMaxWindow) return "the window is large";
  }
  const std::string* padding = pool.attr<std::string>("padding");
  // With explicit padding, windows may lie in the padding and then have no largest element.
  if (padding == nullptr || *padding == "EXPLICIT") return "its padding is explicit";
  return "";
}

Outcome KeepWorkspace(RuleContext& context, NodeId id) {
  const Node& grad = context.node(id);
  if (grad.inputs.size() != 3) return Outcome::NotMine();
  const Endpoint output = grad.inputs[1];
  const Node& pool = context.node(output);
  const bool fresh = pool.op == "MaxPool";
  if ((!fresh && pool.op != "_MaxPoolWithWorkspace") || output.port != 0 ||
      pool.inputs[0] != grad.inputs[0]) {
    return Outcome::Skip(1, "orig_output is not the pool of orig_input", output.node);
  }
  if (std::string why = WorkspaceObstacle(pool, grad); !why.empty()) {
    return Outcome::Skip(2, std::move(why), output.node);
  }
  if (fresh) context.rw.SetOp(output.node, "_MaxPoolWithWorkspace");
  const Endpoint x = grad.inputs[0], dy = grad.inputs[2];
  context.rw.SetOp(id, "_MaxPoolGradWithWorkspace");
  context.rw.SetInputs(id, {x, dy, {output.node, 1}});
  return Outcome::Fired();
}

const RuleRegistration keep_workspace({
    .name = "KeepMaxPoolWorkspace",
    .doc = "MaxPool passes the positions of the largest elements to its MaxPoolGrad",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "MaxPoolGrad",
    .apply = KeepWorkspace,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
