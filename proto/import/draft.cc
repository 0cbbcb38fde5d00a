#include "proto/import/draft.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "ops/op.h"

namespace tenon {

absl::StatusOr<NodeId> Draft::Add(Node node, bool effect) {
  if (nodes_.size() >= max_nodes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("with its functions inlined the graph has more than ", max_nodes_, " nodes"));
  }
  if (!names_.insert(node.name).second) {
    const std::string base = std::move(node.name);
    int suffix = 0;
    do {
      node.name = absl::StrCat(base, "_", ++suffix);
    } while (!names_.insert(node.name).second);
  }
  node.id = end_id();
  nodes_.push_back(std::move(node));
  effect_.push_back(effect);
  return nodes_.back().id;
}

absl::StatusOr<NodeId> Draft::AddScalar(const std::string& name, int32_t value) {
  Node node;
  node.name = name;
  node.op = "Const";
  node.attrs["dtype"] = DType::kInt32;
  node.attrs["value"] = Tensor::Scalar<int32_t>(value);
  return Add(std::move(node), /*effect=*/false);
}

Endpoint Draft::SkipIdentities(Endpoint e) const {
  while (node(e.node).op == "Identity" && node(e.node).inputs.size() == 1) {
    e = node(e.node).inputs[0];
  }
  return e;
}

std::vector<bool> Draft::Live() const {
  std::vector<bool> live(nodes_.size(), false);
  std::vector<NodeId> stack;
  auto need = [&](NodeId id) {
    if (live[static_cast<size_t>(id)]) return;
    live[static_cast<size_t>(id)] = true;
    stack.push_back(id);
  };
  for (const GraphInput& input : inputs) need(input.node);
  for (const GraphOutput& output : outputs) need(output.source.node);
  for (NodeId target : targets) need(target);
  while (!stack.empty()) {
    const Node& n = node(stack.back());
    stack.pop_back();
    for (const Endpoint& e : n.inputs) need(e.node);
    for (NodeId c : n.control_inputs) need(c);
  }
  return live;
}

void Draft::Forward(const HashMap<Endpoint, Endpoint>& forward) {
  if (forward.empty()) return;
  auto follow = [&](Endpoint& e) {
    for (auto it = forward.find(e); it != forward.end(); it = forward.find(e)) e = it->second;
  };
  for (Node& n : nodes_) {
    for (Endpoint& e : n.inputs) follow(e);
  }
  for (GraphOutput& output : outputs) follow(output.source);
}

void Draft::DropIdleControls(bool (*has_side_effects)(absl::string_view op)) {
  std::vector<bool> waits(nodes_.size(), false);
  // Repeats, because constants added late come after their readers.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (waits[i]) continue;
      const Node& n = nodes_[i];
      bool wait = has_side_effects(n.op);
      for (const Endpoint& e : n.inputs) wait = wait || waits[static_cast<size_t>(e.node)];
      for (NodeId c : n.control_inputs) wait = wait || waits[static_cast<size_t>(c)];
      waits[i] = wait;
      changed = changed || wait;
    }
  }
  auto idle = [&](NodeId id) { return !waits[static_cast<size_t>(id)]; };
  for (Node& n : nodes_) {
    n.control_inputs.erase(std::remove_if(n.control_inputs.begin(), n.control_inputs.end(), idle),
                           n.control_inputs.end());
  }
  targets.erase(std::remove_if(targets.begin(), targets.end(), idle), targets.end());
}

absl::StatusOr<Graph> Draft::ToGraph() && {
  const std::vector<bool> live = Live();
  std::vector<NodeId> ids(nodes_.size(), kNoNode);
  NodeId next = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (live[i]) ids[i] = next++;
  }
  auto renumber = [&](NodeId& id) { id = ids[static_cast<size_t>(id)]; };
  Graph graph;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!live[i]) continue;
    Node& n = nodes_[i];
    for (Endpoint& e : n.inputs) renumber(e.node);
    for (NodeId& c : n.control_inputs) renumber(c);
    TENON_RETURN_IF_ERROR(graph.AddNode(std::move(n)).status());
  }
  for (GraphInput& input : inputs) {
    renumber(input.node);
    graph.AddInput(std::move(input));
  }
  for (GraphOutput& output : outputs) renumber(output.source.node);
  graph.SetOutputs(std::move(outputs));
  for (NodeId& target : targets) {
    renumber(target);
    graph.AddTarget(target);
  }
  return graph;
}

absl::Status CheckInputCount(const OpInfo& op, const Node& node) {
  TENON_ASSIGN_OR_RETURN(const std::vector<DType> wanted, InputDTypes(op, node));
  if (node.inputs.size() == wanted.size()) return absl::OkStatus();
  return InvalidArgument(NodeLabel(node), ": has ", node.inputs.size(), " inputs, but takes ",
                         wanted.size());
}

}  // namespace tenon
