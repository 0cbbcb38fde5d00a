// Fuses the elementwise ops that remain after the other fusions: connected ones become one op that
// passes over memory once.
//
// A group grows from its last op towards the inputs. It takes an op if all its readers are in the
// group and its result has the group's shape: a smaller tensor (the gate of a squeeze-and-excite
// block) is computed separately, once, and broadcast. Unknown dimensions may turn out to be
// broadcast; that costs time, but the result is right.
#include "kernels/elementwise/elementwise.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "env/containers.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr size_t kMaxInputs = 12;  // tiles of all inputs and results share the first-level cache
constexpr size_t kMaxOps = 24;

// The instruction of the node if it can be part of a program; otherwise null.
const ElementwiseInfo* InstructionOf(RuleContext& context, NodeId id) {
  const Node& n = context.Candidate(id);
  const ElementwiseInfo* info = FindElementwise(n.op);
  const OpLookup op = info == nullptr ? OpLookup() : FindOp(n.op);
  if (!op || op.native || op.info->row.alias) return nullptr;
  if (static_cast<int>(n.inputs.size()) != info->arity()) return nullptr;
  if (context.shapes.dtype({id, 0}) != DType::kFloat) return nullptr;
  for (const Endpoint& e : n.inputs) {
    if (context.shapes.dtype(e) != DType::kFloat) return nullptr;
  }
  // A bias for the last dimension is broadcast like any operand; one for another dimension is not.
  const std::string* format = n.attr<std::string>("data_format");
  if (n.op == "BiasAdd") return format == nullptr || *format == "NHWC" ? info : nullptr;
  return op.info->row.elementwise ? info : nullptr;
}

// The inputs of the ops in `group` from outside the group, each once.
std::vector<Endpoint> InputsOf(const RuleContext& context, const std::vector<NodeId>& group) {
  std::vector<Endpoint> inputs;
  for (NodeId id : group) {
    for (const Endpoint& e : context.node(id).inputs) {
      if (std::find(group.begin(), group.end(), e.node) != group.end()) continue;
      if (std::find(inputs.begin(), inputs.end(), e) == inputs.end()) inputs.push_back(e);
    }
  }
  return inputs;
}

// The ops that can be computed together with `root`, readers first.
std::vector<NodeId> GroupOf(RuleContext& context, NodeId root) {
  std::vector<NodeId> group = {root};
  const auto in_group = [&](NodeId id) {
    return std::find(group.begin(), group.end(), id) != group.end();
  };
  const auto can_join = [&](Endpoint e) {
    if (in_group(e.node) || InstructionOf(context, e.node) == nullptr) return false;
    if (context.rw.IsKept(e.node)) return false;
    for (const Use& u : context.rw.uses(e.node)) {
      if (u.is_control() || !in_group(u.reader)) return false;
    }
    return context.shapes.AlikeShape(e, {root, 0});
  };
  for (bool grown = true; grown && group.size() < kMaxOps;) {
    grown = false;
    for (size_t i = 0; i < group.size() && group.size() < kMaxOps; ++i) {
      for (const Endpoint& e : context.node(group[i]).inputs) {
        if (!can_join(e)) continue;
        group.push_back(e.node);
        if (InputsOf(context, group).size() > kMaxInputs) {
          group.pop_back();
          continue;
        }
        grown = true;
      }
    }
  }
  return group;
}

std::string InstructionText(const RuleContext& context, const Node& n, const ElementwiseInfo& info,
                            const HashMap<NodeId, size_t>& results,
                            const std::vector<Endpoint>& inputs) {
  std::string text = n.op;
  if (info.parameter != nullptr) {
    const float* value = context.node(n.id).attr<float>(info.parameter);
    char digits[32];  // nine of them reproduce the float
    absl::SNPrintF(digits, sizeof digits, "%.9g",
                   value == nullptr ? info.default_parameter : *value);
    absl::StrAppend(&text, ":", info.parameter, "=", digits);
  }
  for (const Endpoint& e : n.inputs) {
    if (auto r = results.find(e.node); r != results.end()) {
      absl::StrAppend(&text, " %", r->second);
    } else {
      absl::StrAppend(&text, " $", std::find(inputs.begin(), inputs.end(), e) - inputs.begin());
    }
  }
  return text;
}

absl::Status Fuse(RuleContext& context, std::vector<NodeId> group,
                  const HashMap<NodeId, size_t>& position) {
  const NodeId root = group[0];
  std::sort(group.begin(), group.end(),
            [&](NodeId a, NodeId b) { return position.at(a) < position.at(b); });
  const std::vector<Endpoint> inputs = InputsOf(context, group);
  std::vector<std::string> program;
  HashMap<NodeId, size_t> results;
  for (NodeId id : group) {
    const Node& n = context.node(id);
    program.push_back(InstructionText(context, n, *FindElementwise(n.op), results, inputs));
    results[id] = program.size() - 1;
  }
  Node fused;
  fused.name = context.node(root).name;
  fused.op = "_FusedElementwise";
  fused.device = context.node(root).device;
  fused.inputs.assign(inputs.begin(), inputs.end());
  fused.attrs["T"] = DType::kFloat;
  fused.attrs["N"] = static_cast<int64_t>(inputs.size());
  fused.attrs["program"] = std::move(program);
  const OpLookup op = FindOp(fused.op);
  if (!op) return absl::InternalError("the op table lacks _FusedElementwise");
  if (absl::Status s = CompleteAttrs(*op.info, fused); !s.ok()) return s;
  context.Step("FuseElementwise", fused.name);
  const NodeId id = context.rw.AddNode(std::move(fused));
  context.rw.ReplaceNode(root, {id, 0});
  for (auto it = group.rbegin(); it != group.rend(); ++it) {
    if (*it != root) context.RemoveIfDead(*it);
  }
  context.EndStep("FuseElementwise");
  return absl::OkStatus();
}

absl::Status FuseElementwise(RuleContext& context) {
  auto order = context.graph().TopologicalOrder();
  if (!order.ok()) return order.status();
  HashMap<NodeId, size_t> position;
  for (size_t i = 0; i < order->size(); ++i) position[(*order)[i]] = i;
  // Last ops first: an op that is not in a reader's group may start its own.
  for (auto it = order->rbegin(); it != order->rend(); ++it) {
    if (!context.graph().Has(*it) || InstructionOf(context, *it) == nullptr) continue;
    std::vector<NodeId> group = GroupOf(context, *it);
    if (group.size() < 2) continue;
    if (absl::Status s = Fuse(context, std::move(group), position); !s.ok()) return s;
  }
  return absl::OkStatus();
}

const RuleRegistration elementwise({
    .name = "FuseElementwise",
    .doc = "connected elementwise ops of one shape, as a program that passes over memory once",
    .phase = Phase::kFuse,
    .sweep = FuseElementwise,
    .after = "FoldExpandedWeights SpecializePow",
    .last = true,
});

}  // namespace
}  // namespace tenon
