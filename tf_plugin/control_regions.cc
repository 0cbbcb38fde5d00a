#include "tf_plugin/control_regions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>

namespace tenon::plugin {
namespace {

size_t At(NodeId id) { return static_cast<size_t>(id); }

bool IsSwitch(absl::string_view op) { return op == "Switch" || op == "_SwitchN"; }

}  // namespace

bool IsControlFlow(absl::string_view op) {
  // op names: TensorFlow's control flow between nodes.
  static const auto* const kOps = new HashSet<absl::string_view>(
      {"Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge", "Enter", "RefEnter", "Exit",
       "RefExit", "NextIteration", "RefNextIteration", "LoopCond", "ControlTrigger"});
  return kOps->contains(op);
}

void ControlRegions::State::Add(const State& other) {
  absl::InlinedVector<Side, 1> all;
  std::set_union(sides.begin(), sides.end(), other.sides.begin(), other.sides.end(),
                 std::back_inserter(all));
  sides = std::move(all);
}

ControlRegions::ControlRegions(const ProcessGraph& process, const Graph& graph,
                               const std::vector<NodeId>& order)
    : process_(process), graph_(graph), order_(order) {
  states_.resize(At(graph_.end_id()));
  roots_.resize(states_.size());
  for (const NodeId id : order_) Read(graph_.node(id));
}

ControlRegions::State ControlRegions::StateOf(const Endpoint& e) const {
  State state = StateOf(e.node);
  const Node& n = graph_.node(e.node);
  if (IsSwitch(process_.OpOf(e.node)) && n.inputs.size() == 2) {
    state.Add({.sides = {{conditions_.at(n.inputs[1]), e.port}}});
  }
  return state;
}

int ControlRegions::ConditionOf(const Node& switch_node) {
  const auto [it, added] =
      conditions_.emplace(switch_node.inputs[1], static_cast<int>(num_sides_.size()));
  if (!added) return it->second;
  num_sides_.push_back(2);
  if (process_.OpOf(switch_node.id) == "_SwitchN") {
    const Node* const readable = process_.Movable(switch_node.id);
    const int64_t* const n = readable == nullptr ? nullptr : readable->attr<int64_t>("num_outs");
    num_sides_.back() = n == nullptr ? -1 : static_cast<int>(*n);
  }
  return it->second;
}

void ControlRegions::SetFrame(State& state, const State& input) const {
  const auto depth = [&](int frame) { return frame < 0 ? 0 : frames_[At(frame)].depth; };
  if (depth(input.frame) > depth(state.frame)) state.frame = input.frame;
}

ControlRegions::State ControlRegions::Merged(const Node& n, const std::vector<State>& inputs) {
  State common = inputs[0];
  for (const State& input : inputs) {
    absl::InlinedVector<Side, 1> both;
    std::set_intersection(common.sides.begin(), common.sides.end(), input.sides.begin(),
                          input.sides.end(), std::back_inserter(both));
    common.sides = std::move(both);
  }
  if (inputs.size() == 1) return common;  // of a loop
  // One input is there in any case if each is of another side of the same condition.
  HashSet<Side> sides;
  int condition = -1;
  for (const State& input : inputs) {
    std::vector<Side> own;
    std::set_difference(input.sides.begin(), input.sides.end(), common.sides.begin(),
                        common.sides.end(), std::back_inserter(own));
    if (own.size() == 1) sides.insert(own[0]);
    if (own.size() == 1) condition = own[0].first;
  }
  const bool same = std::all_of(sides.begin(), sides.end(),
                                [&](const Side& side) { return side.first == condition; });
  if (condition >= 0 && same && sides.size() == inputs.size() &&
      static_cast<int>(sides.size()) == num_sides_[At(condition)]) {
    return common;
  }
  // A condition of its own, which nothing ends.
  common.sides = {{static_cast<int>(num_sides_.size()), n.id}};
  num_sides_.push_back(-1);
  return common;
}

void ControlRegions::Read(const Node& n) {
  State& state = states_[At(n.id)];
  roots_[At(n.id)] = n.id;
  const absl::string_view op = process_.OpOf(n.id);
  const bool merges = op == "Merge" && !n.inputs.empty();
  std::vector<State> inputs;
  for (const Endpoint& e : n.inputs) {
    inputs.push_back(StateOf(e));
    SetFrame(state, inputs.back());
    if (!merges) state.Add(inputs.back());
  }
  if (merges) state.sides = Merged(n, inputs).sides;
  for (const NodeId c : n.control_inputs) {
    SetFrame(state, StateOf(c));
    if (!merges) state.Add(StateOf(c));  // a Merge also waits for nodes of the other branch
  }
  if (IsSwitch(op) && n.inputs.size() == 2) ConditionOf(n);
  if (op == "Enter") {
    const Node* const readable = process_.Movable(n.id);
    const auto* name = readable == nullptr ? nullptr : readable->attr<std::string>("frame_name");
    const auto [it, added] =
        frame_indices_.emplace(name == nullptr ? "" : *name, static_cast<int>(frames_.size()));
    if (added) {
      const int depth = state.frame < 0 ? 0 : frames_[At(state.frame)].depth;
      frames_.push_back({.outer = state, .depth = depth + 1});
    } else {
      frames_[At(it->second)].outer.Add(state);
    }
    state.frame = it->second;
  } else if (op == "Exit" && state.frame >= 0) {
    state = State(frames_[At(state.frame)].outer);
  }
}

NodeId ControlRegions::RootOf(NodeId id) {
  while (roots_[At(id)] != id) id = roots_[At(id)] = roots_[At(roots_[At(id)])];
  return id;
}

std::vector<std::vector<NodeId>> ControlRegions::Regions() {
  HashSet<NodeId> flow;
  const auto join = [&](NodeId before, NodeId id) {
    roots_[At(RootOf(id))] = RootOf(before);
    flow.insert({before, id});
  };
  for (const NodeId id : order_) {
    for (const Endpoint& e : graph_.node(id).inputs) {
      if (IsConditional(e)) join(e.node, id);
    }
    for (const NodeId c : graph_.node(id).control_inputs) {
      if (IsConditional(c)) join(c, id);
    }
  }
  OrderedMap<NodeId, std::vector<NodeId>> regions;
  for (const NodeId id : order_) {
    if (flow.contains(id)) regions[RootOf(id)].push_back(id);
  }
  std::vector<std::vector<NodeId>> all;
  for (auto& [root, nodes] : regions) all.push_back(std::move(nodes));
  return all;
}

}  // namespace tenon::plugin
