// Turns the Merges of one condition into an If. A branch consists of the nodes between the
// condition's Switch nodes and the Merges' inputs; a constant in a branch waits for the branch's
// pivot, an Identity of a Switch. TensorFlow generates Merge(result if false, result if true).
#include <algorithm>
#include <optional>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "proto/import/functionalize.h"

namespace tenon {
namespace {

// The nodes on the path from a Merge's input back to the nearest Switch nodes.
struct Side {
  std::vector<NodeId> order;  // each node after the nodes that it needs
  HashSet<NodeId> inside;     // those that depend on a Switch
  std::optional<Endpoint> predicate;
  int port = -1;  // of the Switch nodes: 0 false, 1 true
  bool several = false;
};

class CondFunctionalization {
 public:
  CondFunctionalization(Draft& draft, const std::string& prefix,
                        std::vector<FunctionalizedBody>& bodies)
      : draft_(draft), prefix_(prefix), bodies_(bodies) {}

  absl::Status Run() {
    while (true) {
      const std::vector<NodeId> merges = Merges();
      if (merges.empty()) return absl::OkStatus();
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
      absl::Status status = Functionalize(group, predicate);
      if (!status.ok()) return Annotate(status, NodeLabel(draft_.node(group[0])));
    }
  }

 private:
  // Live Merge nodes; Merges that need no other one come first.
  std::vector<NodeId> Merges() const {
    const std::vector<bool> live = draft_.Live();
    std::vector<NodeId> merges;
    for (NodeId id = 0; id < draft_.end_id(); ++id) {
      if (live[static_cast<size_t>(id)] && draft_.node(id).op == "Merge") merges.push_back(id);
    }
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

  Side Explore(Endpoint from) const {
    Side side;
    auto at_switch = [&](Endpoint e, bool data) {
      const Endpoint predicate = draft_.SkipIdentities(draft_.node(e.node).inputs[1]);
      if (side.predicate.has_value() && *side.predicate != predicate) side.several = true;
      side.predicate = predicate;
      if (data) side.port = e.port;
    };
    HashSet<NodeId> seen;
    std::vector<std::pair<NodeId, bool>> stack;
    auto visit = [&](Endpoint e, bool data) {
      if (draft_.node(e.node).op == "Switch") {
        at_switch(e, data);
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
        return draft_.node(input).op == "Switch" || side.inside.contains(input);
      };
      bool inside = false;
      for (const Endpoint& e : n.inputs) inside = inside || depends(e.node);
      for (NodeId c : n.control_inputs) inside = inside || depends(c);
      if (inside) side.inside.insert(id);
    }
    return side;
  }

  absl::StatusOr<Endpoint> PredicateOf(NodeId merge) const {
    std::optional<Endpoint> predicate;
    for (const Endpoint& e : draft_.node(merge).inputs) {
      const Side side = Explore(e);
      bool bad = side.several;
      if (side.predicate.has_value()) {
        bad = bad || (predicate.has_value() && *predicate != *side.predicate);
        predicate = side.predicate;
      }
      if (bad) predicate.reset();
      if (bad) break;
    }
    if (!predicate.has_value() || draft_.node(merge).inputs.size() != 2) {
      return Unimplemented(NodeLabel(draft_.node(merge)),
                           ": does not join the two branches of one condition");
    }
    return *predicate;
  }

  // The arguments of both branches: inputs of their Switch nodes, and tensors from outside.
  absl::Status FindArguments(const Side& side, Endpoint result, std::vector<Endpoint>& arguments) {
    absl::Status status;
    auto add = [&](Endpoint e) {
      const Node& n = draft_.node(e.node);
      if (n.op == "Switch") {
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

  absl::StatusOr<Draft> MakeBranch(const std::vector<NodeId>& group, int input,
                                   const std::vector<Endpoint>& arguments) {
    Draft body(static_cast<size_t>(draft_.end_id()) * 4 + 64);
    Extraction extraction(draft_, body);
    for (size_t i = 0; i < arguments.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(
          const Endpoint argument,
          extraction.AddArgument(absl::StrCat("argument_", i), DTypeOf(draft_, arguments[i])));
      extraction.Map(arguments[i], argument);
      for (NodeId id = 0; id < draft_.end_id(); ++id) {
        const Node& n = draft_.node(id);
        if (n.op != "Switch" || n.inputs.empty() || n.inputs[0] != arguments[i]) continue;
        extraction.Map({id, 0}, argument);
        extraction.Map({id, 1}, argument);
        extraction.Ignore(id);
      }
    }
    for (NodeId merge : group) {
      const Endpoint result = draft_.node(merge).inputs[static_cast<size_t>(input)];
      const Side side = Explore(result);
      for (NodeId id : side.order) {
        for (NodeId c : draft_.node(id).control_inputs) {
          if (!side.inside.contains(c)) extraction.Ignore(c);
        }
      }
      auto may_copy = [&](const Node& n) { return side.inside.contains(n.id) || n.op == "Const"; };
      TENON_ASSIGN_OR_RETURN(const Endpoint e, extraction.Copy(result, may_copy));
      TENON_ASSIGN_OR_RETURN(const NodeId index,
                             body.AddScalar(draft_.node(merge).name + "/index", input));
      body.outputs.push_back({absl::StrCat("r", body.outputs.size()), e});
      body.outputs.push_back({absl::StrCat("r", body.outputs.size()), {index, 0}});
    }
    return body;
  }

  absl::Status Functionalize(const std::vector<NodeId>& group, Endpoint predicate) {
    std::vector<Endpoint> arguments;
    int true_input = -1;
    std::vector<DType> results;
    for (NodeId merge : group) {
      for (int input : {0, 1}) {
        const Endpoint e = draft_.node(merge).inputs[static_cast<size_t>(input)];
        const Side side = Explore(e);
        TENON_RETURN_IF_ERROR(FindArguments(side, e, arguments));
        if (side.port >= 0) true_input = side.port == 1 ? input : 1 - input;
      }
      results.push_back(DTypeOf(draft_, {merge, 0}));
      results.push_back(DType::kInt32);
    }
    if (true_input < 0) true_input = 1;
    Node node;
    node.name = draft_.node(group[0]).name + "/if";
    node.op = "If";
    node.inputs.push_back(predicate);
    node.inputs.insert(node.inputs.end(), arguments.begin(), arguments.end());
    std::vector<DType> types;
    for (const Endpoint& e : arguments) types.push_back(DTypeOf(draft_, e));
    node.attrs["Tcond"] = DType::kBool;
    node.attrs["Tin"] = std::move(types);
    node.attrs["Tout"] = std::move(results);
    for (bool truth : {true, false}) {
      const std::string name = absl::StrCat(prefix_, node.name, truth ? "_true" : "_false");
      TENON_ASSIGN_OR_RETURN(Draft body,
                             MakeBranch(group, truth ? true_input : 1 - true_input, arguments));
      bodies_.push_back({name, std::move(body)});
      node.attrs[truth ? "then_branch" : "else_branch"] = FuncRef{name, nullptr};
    }
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(node), /*effect=*/true));
    HashMap<Endpoint, Endpoint> forward;
    for (size_t i = 0; i < group.size(); ++i) {
      forward[{group[i], 0}] = {id, static_cast<int>(2 * i)};
      forward[{group[i], 1}] = {id, static_cast<int>(2 * i + 1)};
    }
    Redirect(draft_, forward);
    return absl::OkStatus();
  }

  Draft& draft_;
  const std::string prefix_;
  std::vector<FunctionalizedBody>& bodies_;
};

}  // namespace

absl::Status FunctionalizeConds(Draft& draft, const std::string& prefix,
                                std::vector<FunctionalizedBody>& bodies) {
  if (!Uses(draft, "Merge")) return absl::OkStatus();
  return CondFunctionalization(draft, prefix, bodies).Run();
}

}  // namespace tenon
