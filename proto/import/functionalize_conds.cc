// Turns the Merges of one condition into an If. A branch consists of the nodes between the
// condition's Switch nodes and the Merges' inputs; a constant in a branch waits for the branch's
// pivot, an Identity of a Switch. TensorFlow generates Merge(result if false, result if true).
// Effects in a branch that no result needs become a result: a constant that waits for them. What
// runs once and is read in the same branch of a later If, as gradients do, becomes a result too.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "env/status.h"
#include "graph/object.h"
#include "proto/import/cond_group.h"
#include "proto/import/cond_sides.h"
#include "proto/import/functionalize.h"
#include "proto/import/importer.h"

namespace tenon {
namespace {

class CondFunctionalization {
 public:
  CondFunctionalization(Draft& draft, const std::string& prefix,
                        std::vector<FunctionalizedBody>& bodies)
      : draft_(draft), prefix_(prefix), bodies_(bodies), sides_(draft) {}

  absl::Status Run() {
    while (true) {
      sides_.FindDepths();
      const std::vector<NodeId> merges = sides_.Merges();
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
          TENON_ASSIGN_OR_RETURN(predicate, sides_.PredicateOf(merge));
          group.push_back(merge);
        } else if (!sides_.ReadsMerge(merge)) {
          const absl::StatusOr<Endpoint> other = sides_.PredicateOf(merge);
          if (other.ok() && *other == predicate) group.push_back(merge);
        }
      }
      HashSet<NodeId> later = HashSet<NodeId>(merges.begin(), merges.end());
      for (const NodeId merge : group) later.erase(merge);
      TENON_RETURN_IF_ERROR(MergeEffects(predicate, sides_.NeededBy(later), group));
      absl::Status status = Functionalize(group, predicate);
      if (!status.ok()) return Annotate(status, NodeLabel(draft_.node(group[0])));
    }
  }

 private:
  // Adds Merges of targets in a branch of the condition to `group`; nullopt: of any condition.
  // Those in `others` are results of other Merges' branches.
  absl::Status MergeEffects(std::optional<Endpoint> predicate, const HashSet<NodeId>& others,
                            std::vector<NodeId>& group) {
    const std::vector<NodeId> targets = draft_.targets;
    for (const NodeId target : targets) {
      if (sides_.DepthOf(target) <= 0 || others.contains(target)) continue;
      if (sides_.ReadsMerge(target)) continue;
      const CondSide all = sides_.Explore({target, 0});
      if (all.several || !all.predicate.has_value()) continue;
      if (predicate.has_value() && *predicate != *all.predicate) continue;
      const CondSide side = sides_.Explore({target, 0}, *all.predicate);
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
      const CondSide side = sides_.Explore(result, group.predicate);
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

  absl::Status Functionalize(const std::vector<NodeId>& merges, Endpoint predicate) {
    CondGroup group;
    group.predicate = predicate;
    group.merges = merges;
    TENON_RETURN_IF_ERROR(FillGroup(draft_, sides_, bodies_, group));
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
    node.control_inputs.assign(group.awaited.begin(), group.awaited.end());
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
    for (const NodeId waits : group.waiting) {
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

  // What runs once must be in one If only.
  absl::Status Take(NodeId id, NodeId group) {
    const NodeId before = taken_.emplace(id, group).first->second;
    if (before == group) return absl::OkStatus();
    const Node& n = draft_.node(id);
    if (!RunsOnce(n, bodies_)) return absl::OkStatus();
    return Unimplemented(NodeLabel(n), ": results of a branch need it in several places");
  }

  Draft& draft_;
  const std::string prefix_;
  std::vector<FunctionalizedBody>& bodies_;
  CondSides sides_;
  HashMap<NodeId, NodeId> taken_;  // nodes in branches, and the first Merge of their group
};

}  // namespace

absl::Status FunctionalizeConds(Draft& draft, const std::string& prefix,
                                std::vector<FunctionalizedBody>& bodies) {
  if (!Uses(draft, "Merge") && !Uses(draft, "Switch")) return absl::OkStatus();
  return CondFunctionalization(draft, prefix, bodies).Run();
}

absl::Status EndBranches(Draft& draft) {
  const std::vector<bool> live = draft.Live();
  HashMap<Endpoint, Endpoint> forward;
  HashSet<NodeId> ended;
  for (NodeId id = 0; id < static_cast<NodeId>(live.size()); ++id) {
    const Node n = draft.node(id);
    if (!live[static_cast<size_t>(id)] || n.op != "Switch") continue;
    for (const int branch : {0, 1}) {
      Node value;
      value.name = n.name + (branch == 1 ? "/if_true" : "/if_false");
      value.op = "_BranchValue";
      value.inputs = n.inputs;
      value.attrs["T"] = DTypeOf(draft, {id, branch});
      value.attrs["taken"] = branch == 1;
      value.control_inputs = n.control_inputs;
      TENON_ASSIGN_OR_RETURN(const NodeId of_branch, draft.Add(std::move(value), /*effect=*/false));
      forward[{id, branch}] = {of_branch, 0};
    }
    ended.insert(id);
  }
  if (ended.empty()) return absl::OkStatus();
  // Who only waits for a Switch does not need either value.
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    auto& waits = draft.node(id).control_inputs;
    waits.erase(
        std::remove_if(waits.begin(), waits.end(), [&](NodeId c) { return ended.contains(c); }),
        waits.end());
  }
  draft.Forward(forward);
  return absl::OkStatus();
}

}  // namespace tenon
