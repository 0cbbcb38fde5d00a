#include "graph_rewrite/sign.h"

#include <string>
#include <vector>

#include "env/containers.h"
#include "graph_rewrite/elements.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr size_t kMaxSeen = 64;

Sign SignOf(const Node& n) {
  // The last of the chain decides.
  if (const auto* chain = n.attr<std::vector<std::string>>("fused_ops")) {
    return chain->empty() ? Sign::kAny : FactsOf(chain->back()).sign;
  }
  return FactsOf(n.op).sign;
}

bool HasNegative(const Tensor& t) {
  if (!IsFloating(t.dtype())) return true;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (FloatElement(t, i) < 0) return true;
  }
  return false;
}

// The inputs that have the dtype of the result by the op's signature: its data.
std::vector<Endpoint> DataInputs(const Node& n) {
  const OpLookup op = FindOp(n.op);
  if (!op || op.info->signature.outputs.empty()) return {};
  const std::string& type = op.info->signature.outputs[0].type_attr;
  std::vector<Endpoint> data;
  size_t slot = 0;
  for (const ArgSpec& arg : op.info->signature.inputs) {
    const int64_t* number = n.attr<int64_t>(arg.number_attr);
    const size_t count = number == nullptr ? 1 : static_cast<size_t>(*number);
    for (size_t i = 0; i < count && slot < n.inputs.size(); ++i, ++slot) {
      if (arg.type_attr == type) data.push_back(n.inputs[slot]);
    }
  }
  return data;
}

}  // namespace

bool IsNeverNegative(const RuleContext& context, Endpoint e) {
  std::vector<Endpoint> open = {e};
  HashSet<NodeId> seen;
  while (!open.empty()) {
    const Endpoint at = open.back();
    open.pop_back();
    if (at.port != 0 || seen.size() > kMaxSeen) return false;
    if (!seen.insert(at.node).second) continue;
    if (const Tensor* value = context.Constant(at)) {
      if (HasNegative(*value)) return false;
      continue;
    }
    const Node& n = context.node(at);
    const Sign sign = SignOf(n);
    if (sign == Sign::kNeverNegative) continue;
    const std::vector<Endpoint> data = DataInputs(n);
    if (sign == Sign::kAny || data.empty()) return false;
    open.insert(open.end(), data.begin(), data.end());
  }
  return true;
}

}  // namespace tenon
