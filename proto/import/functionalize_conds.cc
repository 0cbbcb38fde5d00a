// Turns the Merges of one condition into an If. A branch consists of the nodes between the
// condition's Switch nodes and the Merges' inputs; a constant in a branch waits for the branch's
// pivot, an Identity of a Switch. TensorFlow generates Merge(result if false, result if true).
// Effects in a branch that no result needs become a result: a constant that waits for them. What
// runs once and is read in the same branch of a later If, as gradients do, becomes a result too.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "graph/object.h"
#include "ops/op.h"
#include "proto/import/functionalize.h"
#include "proto/import/importer.h"

namespace tenon {
namespace {

// The nodes on the path from a Merge's input back to the nearest Switch nodes.
struct Side {
  std::vector<NodeId> order;  // each node after the nodes that it needs
  HashSet<NodeId> inside;     // those that depend on a Switch
  std::optional<Endpoint> predicate;
  int port = -1;         // of the Switch nodes: 0 false, 1 true
  int depth = -1;        // of the predicate's Switch nodes
  bool several = false;  // predicates, none of them of an inner condition

  // The predicate of a Switch; that of the innermost condition counts.
  void Add(Endpoint p, int at) {
    if (predicate.has_value() && *predicate != p && at <= depth) {
      several |= at == depth;
      return;
    }
    if (predicate.has_value() && *predicate != p) several = false;
    predicate = p;
    depth = std::max(depth, at);
  }
};

// What joins the branches of one condition.
struct CondGroup {
  Endpoint predicate;
  std::vector<NodeId> merges;
  std::vector<Endpoint> arguments;
  std::vector<int> inputs[2];     // by value of the predicate, and by Merge: the branch's result
  HashMap<NodeId, int> inside;    // nodes in branches, and in which
  HashSet<NodeId> once;           // of `inside`: what runs once, and what needs such nodes
  std::vector<Endpoint> exports;  // of `once`, read by branches of later groups
};

class CondFunctionalization {
 public:
  CondFunctionalization(Draft& draft, const std::string& prefix,
                        std::vector<FunctionalizedBody>& bodies)
      : draft_(draft), prefix_(prefix), bodies_(bodies) {}

  absl::Status Run() {
    while (true) {
      FindDepths();
      const std::vector<NodeId> merges = Merges();
      if (merges.empty()) {  // effects may be left
        std::vector<NodeId> effects;
        TENON_RETURN_IF_ERROR(MergeEffects(std::nullopt, {}, effects));
        if (effects.empty()) return absl::OkStatus();
        continue;
      }
      // The first one reads no other Merge; other Merges of its condition that read none either
      // join it.
      std::vector<NodeId> group;
      Endpoint predicate;
      for (NodeId merge : merges) {
        if (group.empty()) {
          TENON_ASSIGN_OR_RETURN(predicate, PredicateOf(merge));
          group.push_back(merge);
        } else if (!ReadsMerge(merge)) {
          const absl::StatusOr<Endpoint> other = PredicateOf(merge);
          if (other.ok() && *other == predicate) group.push_back(merge);
        }
      }
      HashSet<NodeId> later = HashSet<NodeId>(merges.begin(), merges.end());
      for (const NodeId merge : group) later.erase(merge);
      TENON_RETURN_IF_ERROR(MergeEffects(predicate, NeededBy(later), group));
      absl::Status status = Functionalize(group, predicate);
      if (!status.ok()) return Annotate(status, NodeLabel(draft_.node(group[0])));
    }
  }

 private:
  // How many conditions each live node waits for. What joins a condition's branches ends it.
  void FindDepths() {
    const size_t end = static_cast<size_t>(draft_.end_id());
    depths_.assign(end, -1);
    std::vector<bool> seen(end, false);
    const std::vector<bool> live = draft_.Live();
    std::vector<std::pair<NodeId, bool>> stack;
    for (NodeId root = 0; root < draft_.end_id(); ++root) {
      if (live[static_cast<size_t>(root)]) stack.emplace_back(root, false);
      while (!stack.empty()) {
        const auto [id, inputs_done] = stack.back();
        stack.pop_back();
        const Node& n = draft_.node(id);
        int most = 0;
        const auto see = [&](NodeId input) {
          if (inputs_done) {
            most = std::max(most, depths_[static_cast<size_t>(input)]);  // -1 on a cycle
          } else if (!seen[static_cast<size_t>(input)]) {
            stack.emplace_back(input, false);
          }
        };
        if (!inputs_done) {
          if (seen[static_cast<size_t>(id)]) continue;
          seen[static_cast<size_t>(id)] = true;
          stack.emplace_back(id, true);
        }
        for (const Endpoint& e : n.inputs) see(e.node);
        for (const NodeId c : n.control_inputs) see(c);
        if (!inputs_done) continue;
        depths_[static_cast<size_t>(id)] = n.op == "Switch"  ? most + 1
                                           : n.op == "Merge" ? std::max(most - 1, 0)
                                                             : most;
      }
    }
  }

  int DepthOf(NodeId id) const {
    const size_t i = static_cast<size_t>(id);
    return i < depths_.size() ? depths_[i] : 0;
  }

  int InputsDepth(NodeId id) const {
    int depth = 0;
    for (const Endpoint& e : draft_.node(id).inputs) depth = std::max(depth, DepthOf(e.node));
    return depth;
  }

  // Everything that these nodes wait for.
  HashSet<NodeId> NeededBy(const HashSet<NodeId>& nodes) const {
    HashSet<NodeId> needed;
    std::vector<NodeId> stack(nodes.begin(), nodes.end());
    while (!stack.empty()) {
      const Node& n = draft_.node(stack.back());
      stack.pop_back();
      const auto need = [&](NodeId id) {
        if (needed.insert(id).second) stack.push_back(id);
      };
      for (const Endpoint& e : n.inputs) need(e.node);
      for (const NodeId c : n.control_inputs) need(c);
    }
    return needed;
  }

  // Adds Merges of targets in a branch of the condition to `group`; nullopt: of any condition.
  // Those in `others` are results of other Merges' branches.
  absl::Status MergeEffects(std::optional<Endpoint> predicate, const HashSet<NodeId>& others,
                            std::vector<NodeId>& group) {
    const std::vector<NodeId> targets = draft_.targets;
    for (const NodeId target : targets) {
      if (DepthOf(target) <= 0 || others.contains(target) || ReadsMerge(target)) continue;
      const Side all = Explore({target, 0});
      if (all.several || !all.predicate.has_value()) continue;
      if (predicate.has_value() && *predicate != *all.predicate) continue;
      const Side side = Explore({target, 0}, *all.predicate);
      if (side.port < 0) continue;
      Node merge;
      merge.name = draft_.node(target).name + "/done";
      merge.op = "Merge";
      merge.attrs["T"] = DType::kInt32;
      merge.attrs["N"] = int64_t{2};
      for (const int branch : {0, 1}) {
        TENON_ASSIGN_OR_RETURN(const NodeId value, draft_.AddScalar(merge.name, branch));
        if (branch == side.port) draft_.node(value).control_inputs.push_back(target);
        merge.inputs.push_back({value, 0});
      }
      TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(merge), /*effect=*/true));
      std::replace(draft_.targets.begin(), draft_.targets.end(), target, id);
      group.push_back(id);
    }
    return absl::OkStatus();
  }

  // Live Merge nodes; Merges that need no other one come first, and those of inner conditions
  // before those of outer ones, so that what is in a branch ends up in one If.
  std::vector<NodeId> Merges() const {
    const std::vector<bool> live = draft_.Live();
    std::vector<NodeId> merges;
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      if (live[static_cast<size_t>(id)] && draft_.node(id).op == "Merge") merges.push_back(id);
    }
    std::stable_sort(merges.begin(), merges.end(),
                     [&](NodeId a, NodeId b) { return InputsDepth(a) > InputsDepth(b); });
    std::stable_partition(merges.begin(), merges.end(), [&](NodeId id) { return !ReadsMerge(id); });
    return merges;
  }

  bool ReadsMerge(NodeId merge) const {
    std::vector<NodeId> stack = {merge};
    HashSet<NodeId> seen = {merge};
    while (!stack.empty()) {
      const Node& n = draft_.node(stack.back());
      stack.pop_back();
      auto visit = [&](NodeId id) {
        if (seen.insert(id).second) stack.push_back(id);
      };
      for (const Endpoint& e : n.inputs) visit(e.node);
      for (NodeId c : n.control_inputs) visit(c);
    }
    return std::any_of(seen.begin(), seen.end(),
                       [&](NodeId id) { return id != merge && draft_.node(id).op == "Merge"; });
  }

  // Switches of other conditions, which are outer ones, are outside: what they give is there in
  // both branches. Without a condition all Switches count.
  bool IsBoundary(NodeId id, const std::optional<Endpoint>& condition) const {
    const Node& n = draft_.node(id);
    return n.op == "Switch" &&
           (!condition.has_value() || draft_.SkipIdentities(n.inputs[1]) == *condition);
  }

  Side Explore(Endpoint from, std::optional<Endpoint> condition = std::nullopt) const {
    Side side;
    auto at_switch = [&](Endpoint e, bool data) {
      side.Add(draft_.SkipIdentities(draft_.node(e.node).inputs[1]), DepthOf(e.node));
      if (data) side.port = e.port;
    };
    HashSet<NodeId> seen;
    std::vector<std::pair<NodeId, bool>> stack;
    auto visit = [&](Endpoint e, bool data) {
      if (IsBoundary(e.node, condition)) {
        at_switch(e, data);
      } else if (draft_.node(e.node).op == "Switch") {
        return;
      } else if (!seen.contains(e.node)) {
        stack.emplace_back(e.node, false);
      }
    };
    visit(from, true);
    while (!stack.empty()) {
      const auto [id, expanded] = stack.back();
      stack.pop_back();
      const Node& n = draft_.node(id);
      if (!expanded) {
        if (!seen.insert(id).second) continue;
        stack.emplace_back(id, true);
        for (const Endpoint& e : n.inputs) visit(e, true);
        for (NodeId c : n.control_inputs) visit({c, 0}, false);
        continue;
      }
      side.order.push_back(id);
      auto depends = [&](NodeId input) {
        return IsBoundary(input, condition) || side.inside.contains(input);
      };
      bool inside = false;
      for (const Endpoint& e : n.inputs) inside = inside || depends(e.node);
      for (NodeId c : n.control_inputs) inside = inside || depends(c);
      if (inside) side.inside.insert(id);
    }
    return side;
  }

  absl::StatusOr<Endpoint> PredicateOf(NodeId merge) const {
    Side both;
    for (const Endpoint& e : draft_.node(merge).inputs) {
      const Side side = Explore(e);
      if (side.predicate.has_value()) both.Add(*side.predicate, side.depth);
      both.several |= side.several;
    }
    if (!both.predicate.has_value() || both.several || draft_.node(merge).inputs.size() != 2) {
      return Unimplemented(NodeLabel(draft_.node(merge)),
                           ": does not join the two branches of one condition");
    }
    return *both.predicate;
  }

  // The arguments of both branches: inputs of their Switch nodes, and tensors from outside.
  absl::Status FindArguments(const Side& side, Endpoint condition, Endpoint result,
                             std::vector<Endpoint>& arguments) {
    absl::Status status;
    auto add = [&](Endpoint e) {
      const Node& n = draft_.node(e.node);
      if (IsBoundary(n.id, condition)) {
        e = n.inputs[0];
      } else if (side.inside.contains(e.node) || n.op == "Const") {
        return;
      }
      if (std::find(arguments.begin(), arguments.end(), e) != arguments.end()) return;
      if (DTypeOf(draft_, e) == DType::kInvalid) {
        status = Unimplemented(NodeLabel(draft_.node(e.node)), ": its dtype is not known");
      }
      arguments.push_back(e);
    };
    add(result);
    for (NodeId id : side.order) {
      if (!side.inside.contains(id)) continue;
      for (const Endpoint& e : draft_.node(id).inputs) add(e);
    }
    return status;
  }

  absl::StatusOr<Draft> MakeBranch(const CondGroup& group, int truth) {
    Draft body(static_cast<size_t>(draft_.end_id()) * 4 + 64);
    Extraction extraction(draft_, body);
    for (size_t i = 0; i < group.arguments.size(); ++i) {
      const Endpoint from = group.arguments[i];
      TENON_ASSIGN_OR_RETURN(
          const Endpoint argument,
          extraction.AddArgument(absl::StrCat("argument_", i), DTypeOf(draft_, from)));
      extraction.Map(from, argument);
      for (NodeId id = 0; id < draft_.end_id(); ++id) {
        const Node& n = draft_.node(id);
        if (n.op != "Switch" || n.inputs.empty() || n.inputs[0] != from) continue;
        extraction.Map({id, 0}, argument);
        extraction.Map({id, 1}, argument);
        extraction.Ignore(id);
      }
    }
    const auto add_output = [&](Endpoint e) {
      body.outputs.push_back({absl::StrCat("r", body.outputs.size()), e});
    };
    for (size_t i = 0; i < group.merges.size(); ++i) {
      const NodeId merge = group.merges[i];
      const int input = group.inputs[truth][i];
      const Endpoint result = draft_.node(merge).inputs[static_cast<size_t>(input)];
      const Side side = Explore(result, group.predicate);
      for (NodeId id : side.order) {
        for (NodeId c : draft_.node(id).control_inputs) {
          if (!side.inside.contains(c)) extraction.Ignore(c);
        }
      }
      auto may_copy = [&](const Node& n) { return side.inside.contains(n.id) || n.op == "Const"; };
      TENON_ASSIGN_OR_RETURN(const Endpoint e, extraction.Copy(result, may_copy));
      for (const NodeId id : side.inside) TENON_RETURN_IF_ERROR(Take(id, group.merges[0]));
      TENON_ASSIGN_OR_RETURN(const NodeId index,
                             body.AddScalar(draft_.node(merge).name + "/index", input));
      add_output(e);
      add_output({index, 0});
    }
    for (const Endpoint& from : group.exports) {
      const bool here = group.inside.at(from.node) == truth;
      auto may_copy = [&](const Node& n) { return group.inside.contains(n.id) || n.op == "Const"; };
      TENON_ASSIGN_OR_RETURN(const Endpoint e,
                             here ? extraction.Copy(from, may_copy) : Nothing(group, from, body));
      add_output(e);
    }
    return body;
  }

  // In the place of a value that the other branch has.
  absl::StatusOr<Endpoint> Nothing(const CondGroup& group, Endpoint value, Draft& body) const {
    const DType dtype = DTypeOf(draft_, value);
    if (HoldsObjects(dtype)) {
      for (size_t i = 0; i < group.arguments.size(); ++i) {
        if (DTypeOf(draft_, group.arguments[i]) == dtype) return Endpoint{body.inputs[i].node, 0};
      }
      return Unimplemented(NodeLabel(draft_.node(value.node)),
                           ": results of a branch need it in several places");
    }
    TENON_ASSIGN_OR_RETURN(Tensor zero, Tensor::Allocate(dtype, Shape({})));
    if (dtype != DType::kString) std::memset(zero.raw(), 0, zero.bytes());
    Node n;
    n.name = draft_.node(value.node).name + "/nothing";
    n.op = "Const";
    n.attrs["dtype"] = DType(dtype);
    n.attrs["value"] = std::move(zero);
    TENON_ASSIGN_OR_RETURN(const NodeId id, body.Add(std::move(n), /*effect=*/false));
    return Endpoint{id, 0};
  }

  absl::Status FindInputs(CondGroup& group) {
    for (NodeId merge : group.merges) {
      Side sides[2];
      for (int input : {0, 1}) {
        const Endpoint e = draft_.node(merge).inputs[static_cast<size_t>(input)];
        sides[input] = Explore(e, group.predicate);
        TENON_RETURN_IF_ERROR(FindArguments(sides[input], group.predicate, e, group.arguments));
      }
      const int first = sides[0].port, second = sides[1].port;
      if (first >= 0 && first == second) {
        return Unimplemented(NodeLabel(draft_.node(merge)),
                             ": both of its inputs are of one branch");
      }
      // TensorFlow's order where nothing tells.
      const int true_input = first >= 0 ? 1 - first : second >= 0 ? second : 1;
      group.inputs[1].push_back(true_input);
      group.inputs[0].push_back(1 - true_input);
      for (int input : {0, 1}) {
        for (NodeId id : sides[input].order) {
          if (!sides[input].inside.contains(id)) continue;
          group.inside[id] = input == true_input ? 1 : 0;
          const Node& n = draft_.node(id);
          if (RunsOnce(n) ||
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
  void FindExports(CondGroup& group, std::vector<NodeId>& waiting, std::vector<NodeId>& awaited) {
    const std::vector<bool> live = draft_.Live();
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      const Node& n = draft_.node(id);
      if (group.inside.contains(id)) {
        for (const NodeId c : n.control_inputs) {
          if (!group.inside.contains(c) && draft_.node(c).op != "Switch") awaited.push_back(c);
        }
        continue;
      }
      const bool joins =
          std::find(group.merges.begin(), group.merges.end(), id) != group.merges.end();
      if (!live[static_cast<size_t>(id)] || joins) continue;
      for (const Endpoint& e : n.inputs) {
        if (!group.once.contains(e.node)) continue;
        if (std::find(group.exports.begin(), group.exports.end(), e) == group.exports.end()) {
          group.exports.push_back(e);
        }
      }
      const bool waits = std::any_of(n.control_inputs.begin(), n.control_inputs.end(),
                                     [&](NodeId c) { return group.once.contains(c); });
      if (waits) waiting.push_back(id);
    }
  }

  absl::Status Functionalize(const std::vector<NodeId>& merges, Endpoint predicate) {
    CondGroup group;
    group.predicate = predicate;
    group.merges = merges;
    TENON_RETURN_IF_ERROR(FindInputs(group));
    std::vector<NodeId> waiting, awaited;
    FindExports(group, waiting, awaited);
    std::vector<DType> results, types;
    for (NodeId merge : merges) {
      results.push_back(DTypeOf(draft_, {merge, 0}));
      results.push_back(DType::kInt32);
    }
    for (const Endpoint& e : group.exports) results.push_back(DTypeOf(draft_, e));
    Node node;
    node.name = draft_.node(merges[0]).name + "/if";
    node.op = "If";
    node.inputs.push_back(predicate);
    node.inputs.insert(node.inputs.end(), group.arguments.begin(), group.arguments.end());
    node.control_inputs.assign(awaited.begin(), awaited.end());
    for (const Endpoint& e : group.arguments) types.push_back(DTypeOf(draft_, e));
    node.attrs["Tcond"] = DType::kBool;
    node.attrs["Tin"] = std::move(types);
    node.attrs["Tout"] = std::move(results);
    for (int truth : {1, 0}) {
      const std::string name = absl::StrCat(prefix_, node.name, truth == 1 ? "_true" : "_false");
      TENON_ASSIGN_OR_RETURN(Draft body, MakeBranch(group, truth));
      bodies_.push_back({name, std::move(body)});
      node.attrs[truth == 1 ? "then_branch" : "else_branch"] = FuncRef{name, nullptr};
    }
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(node), /*effect=*/true));
    for (NodeId& target : draft_.targets) {
      if (taken_.contains(target)) target = id;
    }
    for (const NodeId waits : waiting) {
      for (NodeId& c : draft_.node(waits).control_inputs) {
        if (group.once.contains(c)) c = id;
      }
    }
    HashMap<Endpoint, Endpoint> forward;
    for (size_t i = 0; i < merges.size(); ++i) {
      forward[{merges[i], 0}] = {id, static_cast<int>(2 * i)};
      forward[{merges[i], 1}] = {id, static_cast<int>(2 * i + 1)};
    }
    for (size_t i = 0; i < group.exports.size(); ++i) {
      const Endpoint from = group.exports[i];
      Node still;  // of the branch, for later groups
      still.name = draft_.node(from.node).name + "/of_branch";
      still.op = "Switch";
      still.inputs = {{id, static_cast<int>(2 * merges.size() + i)}, predicate};
      still.attrs["T"] = DTypeOf(draft_, from);
      TENON_ASSIGN_OR_RETURN(const NodeId switch_id, draft_.Add(std::move(still), /*effect=*/true));
      forward[from] = {switch_id, group.inside.at(from.node)};
    }
    Redirect(draft_, forward);
    return absl::OkStatus();
  }

  // Whether the node must not run a second time: it draws random numbers, or changes something,
  // such as a stack; or it calls a function that does.
  bool RunsOnce(const Node& n) const {
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
      for (const FunctionalizedBody& body : bodies_) {
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

  // What runs once must be in one If only.
  absl::Status Take(NodeId id, NodeId group) {
    const NodeId before = taken_.emplace(id, group).first->second;
    if (before == group) return absl::OkStatus();
    const Node& n = draft_.node(id);
    if (!RunsOnce(n)) return absl::OkStatus();
    return Unimplemented(NodeLabel(n), ": results of a branch need it in several places");
  }

  Draft& draft_;
  const std::string prefix_;
  std::vector<FunctionalizedBody>& bodies_;
  std::vector<int> depths_;        // by node; -1: nothing needs it
  HashMap<NodeId, NodeId> taken_;  // nodes in branches, and the first Merge of their group
};

}  // namespace

absl::Status FunctionalizeConds(Draft& draft, const std::string& prefix,
                                std::vector<FunctionalizedBody>& bodies) {
  if (!Uses(draft, "Merge") && !Uses(draft, "Switch")) return absl::OkStatus();
  return CondFunctionalization(draft, prefix, bodies).Run();
}

}  // namespace tenon
