#include "proto/import/cond_sides.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "proto/import/importer.h"

namespace tenon {

void CondSide::Add(Endpoint p, int at) {
  if (predicate.has_value() && *predicate != p && at <= depth) {
    several |= at == depth;
    return;
  }
  if (predicate.has_value() && *predicate != p) several = false;
  predicate = p;
  depth = std::max(depth, at);
}

void CondSides::FindDepths() {
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

int CondSides::DepthOf(NodeId id) const {
  const size_t i = static_cast<size_t>(id);
  return i < depths_.size() ? depths_[i] : 0;
}

int CondSides::InputsDepth(NodeId id) const {
  int depth = 0;
  for (const Endpoint& e : draft_.node(id).inputs) depth = std::max(depth, DepthOf(e.node));
  return depth;
}

std::vector<NodeId> CondSides::Merges() const {
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

bool CondSides::ReadsMerge(NodeId merge) const {
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

HashSet<NodeId> CondSides::NeededBy(const HashSet<NodeId>& nodes) const {
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

bool CondSides::IsBoundary(NodeId id, const std::optional<Endpoint>& condition) const {
  const Node& n = draft_.node(id);
  return n.op == "Switch" &&
         (!condition.has_value() || draft_.SkipIdentities(n.inputs[1]) == *condition);
}

CondSide CondSides::Explore(Endpoint from, std::optional<Endpoint> condition) const {
  CondSide side;
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

absl::StatusOr<Endpoint> CondSides::PredicateOf(NodeId merge) const {
  CondSide both;
  for (const Endpoint& e : draft_.node(merge).inputs) {
    const CondSide side = Explore(e);
    if (side.predicate.has_value()) both.Add(*side.predicate, side.depth);
    both.several |= side.several;
  }
  if (!both.predicate.has_value() || both.several || draft_.node(merge).inputs.size() != 2) {
    return Unimplemented(NodeLabel(draft_.node(merge)),
                         ": does not join the two branches of one condition");
  }
  return *both.predicate;
}

}  // namespace tenon
