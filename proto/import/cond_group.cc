#include "proto/import/cond_group.h"

#include <algorithm>
#include <string>

#include "env/status.h"
#include "ops/op.h"
#include "proto/import/importer.h"

namespace tenon {
namespace {

// The arguments of both branches: inputs of their Switch nodes, and tensors from outside.
absl::Status FindArguments(const Draft& draft, const CondSides& sides, const CondSide& side,
                           Endpoint result, CondGroup& group) {
  std::vector<Endpoint>& arguments = group.arguments;
  absl::Status status;
  auto add = [&](Endpoint e) {
    const Node& n = draft.node(e.node);
    if (sides.IsBoundary(n.id, group.predicate)) {
      e = n.inputs[0];
    } else if (side.inside.contains(e.node) || n.op == "Const") {
      return;
    }
    if (std::find(arguments.begin(), arguments.end(), e) != arguments.end()) return;
    if (DTypeOf(draft, e) == DType::kInvalid) {
      status = Unimplemented(NodeLabel(draft.node(e.node)), ": its dtype is not known");
    }
    arguments.push_back(e);
  };
  add(result);
  for (NodeId id : side.order) {
    if (!side.inside.contains(id)) continue;
    for (const Endpoint& e : draft.node(id).inputs) add(e);
  }
  return status;
}

absl::Status FindInputs(const Draft& draft, const CondSides& sides,
                        const std::vector<FunctionalizedBody>& bodies, CondGroup& group) {
  for (NodeId merge : group.merges) {
    CondSide both[2];
    for (int input : {0, 1}) {
      const Endpoint e = draft.node(merge).inputs[static_cast<size_t>(input)];
      both[input] = sides.Explore(e, group.predicate);
      TENON_RETURN_IF_ERROR(FindArguments(draft, sides, both[input], e, group));
    }
    const int first = both[0].port, second = both[1].port;
    if (first >= 0 && first == second) {
      return Unimplemented(NodeLabel(draft.node(merge)), ": both of its inputs are of one branch");
    }
    // TensorFlow's order where nothing tells.
    const int true_input = first >= 0 ? 1 - first : second >= 0 ? second : 1;
    group.inputs[1].push_back(true_input);
    group.inputs[0].push_back(1 - true_input);
    for (int input : {0, 1}) {
      for (NodeId id : both[input].order) {
        if (!both[input].inside.contains(id)) continue;
        group.inside[id] = input == true_input ? 1 : 0;
        const Node& n = draft.node(id);
        if (RunsOnce(n, bodies) ||
            std::any_of(n.inputs.begin(), n.inputs.end(),
                        [&](const Endpoint& e) { return group.once.contains(e.node); }) ||
            std::any_of(n.control_inputs.begin(), n.control_inputs.end(),
                        [&](NodeId c) { return group.once.contains(c); })) {
          group.once.insert(id);
        }
      }
    }
  }
  return absl::OkStatus();
}

// Finds results in branches that must not be computed again and that nodes outside read; the
// nodes outside that wait for such nodes, and those that nodes in branches wait for.
void FindExports(const Draft& draft, CondGroup& group) {
  const std::vector<bool> live = draft.Live();
  const auto export_once = [&](Endpoint e) {
    if (!group.once.contains(e.node)) return;
    if (std::find(group.exports.begin(), group.exports.end(), e) == group.exports.end()) {
      group.exports.push_back(e);
    }
  };
  for (const GraphOutput& output : draft.outputs) export_once(output.source);
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    const Node& n = draft.node(id);
    if (group.inside.contains(id)) {
      for (const NodeId c : n.control_inputs) {
        if (!group.inside.contains(c) && draft.node(c).op != "Switch") group.awaited.push_back(c);
      }
      continue;
    }
    const bool joins =
        std::find(group.merges.begin(), group.merges.end(), id) != group.merges.end();
    if (!live[static_cast<size_t>(id)] || joins) continue;
    for (const Endpoint& e : n.inputs) export_once(e);
    const bool waits = std::any_of(n.control_inputs.begin(), n.control_inputs.end(),
                                   [&](NodeId c) { return group.once.contains(c); });
    if (waits) group.waiting.push_back(id);
  }
}

}  // namespace

bool RunsOnce(const Node& n, const std::vector<FunctionalizedBody>& bodies) {
  const auto once = [](const std::string& op) {
    if (IsTensorsOp(op)) return true;
    return HasSideEffects(op) && !NeedsNoOrder(op) && op != "Switch" && op != "Merge" &&
           FactsOf(op).control_flow == ControlFlow::kNone;
  };
  if (once(n.op)) return true;
  std::vector<std::string> functions;
  const auto add_functions = [&](const Node& caller) {
    if (FactsOf(caller.op).control_flow == ControlFlow::kNone) return;
    for (const auto& [key, value] : caller.attrs) {
      if (const auto* f = value.get_if<FuncRef>()) functions.push_back(f->name);
    }
  };
  add_functions(n);
  for (size_t i = 0; i < functions.size(); ++i) {
    for (const FunctionalizedBody& body : bodies) {
      if (body.name != functions[i]) continue;
      for (NodeId id = 0; id < body.draft.end_id(); ++id) {
        const Node& inner = body.draft.node(id);
        if (once(inner.op)) return true;
        add_functions(inner);
      }
    }
  }
  return false;
}

absl::Status FillGroup(const Draft& draft, const CondSides& sides,
                       const std::vector<FunctionalizedBody>& bodies, CondGroup& group) {
  TENON_RETURN_IF_ERROR(FindInputs(draft, sides, bodies, group));
  FindExports(draft, group);
  return absl::OkStatus();
}

}  // namespace tenon
