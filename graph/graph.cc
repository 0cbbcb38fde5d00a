#include "graph/graph.h"

#include <queue>

#include "env/status.h"

namespace tenon {

Graph::Graph() = default;
Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

// Not inline: nearly every source includes the header, and would instantiate their containers.
void Graph::AddInput(GraphInput input) { inputs_.push_back(std::move(input)); }
void Graph::AddOutput(GraphOutput output) { outputs_.push_back(std::move(output)); }
void Graph::SetOutputs(std::vector<GraphOutput> outputs) { outputs_ = std::move(outputs); }
void Graph::AddTarget(NodeId id) { targets_.push_back(id); }
void Graph::SetFunctions(FunctionLibrary functions) { functions_ = std::move(functions); }
void Graph::SetFunction(const std::string& name, std::shared_ptr<const Graph> body) {
  functions_[name] = std::move(body);
}
FunctionLibrary Graph::TakeFunctions() { return std::exchange(functions_, {}); }

absl::StatusOr<NodeId> Graph::AddNode(Node node) {
  const NodeId id = end_id();
  node.id = id;
  if (!by_name_.emplace(node.name, id).second) {
    return absl::AlreadyExistsError(absl::StrCat("two nodes are named '", node.name, "'"));
  }
  nodes_.push_back(std::move(node));
  return id;
}

std::string Graph::UniqueName(absl::string_view name) const {
  std::string candidate(name);
  for (int i = 1; by_name_.contains(candidate); ++i) candidate = absl::StrCat(name, "_", i);
  return candidate;
}

const Node* Graph::FindNode(absl::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &node(it->second);
}

std::vector<NodeId> Graph::NodeIds() const {
  std::vector<NodeId> ids;
  ids.reserve(num_nodes());
  for (NodeId id = 0; id < end_id(); ++id) {
    if (Has(id)) ids.push_back(id);
  }
  return ids;
}

void Graph::Erase(NodeId id) {
  Node& n = mutable_node(id);
  by_name_.erase(n.name);
  n = Node();
}

absl::StatusOr<std::vector<NodeId>> Graph::TopologicalOrder() const {
  std::vector<int> waiting(nodes_.size(), 0);
  std::vector<std::vector<NodeId>> readers(nodes_.size());
  for (NodeId id : NodeIds()) {
    const Node& n = node(id);
    auto depends = [&](NodeId on) -> absl::Status {
      if (!Has(on))
        return InvalidArgument("node '", n.name, "' reads a node that is not in the graph");
      ++waiting[static_cast<size_t>(id)];
      readers[static_cast<size_t>(on)].push_back(id);
      return absl::OkStatus();
    };
    for (const Endpoint& e : n.inputs) TENON_RETURN_IF_ERROR(depends(e.node));
    for (NodeId c : n.control_inputs) TENON_RETURN_IF_ERROR(depends(c));
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<NodeId>> ready;
  for (NodeId id : NodeIds()) {
    if (waiting[static_cast<size_t>(id)] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  order.reserve(num_nodes());
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (NodeId r : readers[static_cast<size_t>(id)]) {
      if (--waiting[static_cast<size_t>(r)] == 0) ready.push(r);
    }
  }
  if (order.size() != num_nodes()) {
    for (NodeId id : NodeIds()) {
      if (waiting[static_cast<size_t>(id)] > 0) {
        return InvalidArgument("the graph has a cycle through or above node '", node(id).name, "'");
      }
    }
  }
  return order;
}

std::string NodeLabel(absl::string_view name, absl::string_view op) {
  return absl::StrCat("node '", name, "' (", op, ")");
}

std::string EndpointName(const Graph& graph, Endpoint e) {
  const std::string name = graph.Has(e.node) ? graph.node(e.node).name : "<none>";
  return e.port == 0 ? name : absl::StrCat(name, ":", e.port);
}

}  // namespace tenon
