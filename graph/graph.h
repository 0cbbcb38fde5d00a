// The graph: nodes with data inputs, control inputs and attributes; the named inputs and outputs of
// the signature; and the library of functions that control-flow ops call.
//
// Build a graph with the Add and Set functions. After that, only the Rewriter (graph/rewriter.h)
// changes nodes, so that use lists and the trace of edits stay correct. Node ids are stable: a
// removed node leaves a gap.
#ifndef TENON_GRAPH_GRAPH_H_
#define TENON_GRAPH_GRAPH_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/attr.h"
#include "graph/dtype.h"
#include "graph/shape.h"

namespace tenon {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// Output `port` of `node`.
struct Endpoint {
  NodeId node = kNoNode;
  int port = 0;
  friend bool operator==(const Endpoint& a, const Endpoint& b) {
    return a.node == b.node && a.port == b.port;
  }
  friend bool operator!=(const Endpoint& a, const Endpoint& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Endpoint& e) {
    return H::combine(std::move(h), e.node, e.port);
  }
};

struct Node {
  NodeId id = kNoNode;
  std::string name;
  std::string op;
  std::string device;  // as requested in the model; often empty
  absl::InlinedVector<Endpoint, 4> inputs;
  absl::InlinedVector<NodeId, 1> control_inputs;
  AttrMap attrs;

  // Null if the attribute is absent or has another type.
  template <typename T>
  const T* attr(absl::string_view key) const {
    auto it = attrs.find(key);
    return it == attrs.end() ? nullptr : it->second.get_if<T>();
  }
};

// A named input of the graph: a Placeholder node's port 0.
struct GraphInput {
  std::string name;  // signature key, or the tensor's name in a GraphDef
  NodeId node = kNoNode;
};

// A named output of the graph (a fetch).
struct GraphOutput {
  std::string name;
  Endpoint source;
};

class Graph;

// The functions that If, While and similar ops call, by name. A function is a graph whose inputs
// and outputs are in its signature's order. Functions are immutable: a rewrite replaces the graph.
using FunctionLibrary = OrderedMap<std::string, std::shared_ptr<const Graph>>;

class Graph {
 public:
  Graph();
  Graph(const Graph&);
  Graph(Graph&&);  // the standard library's deque allocates when it is moved from
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // AlreadyExists if the name is taken. Inputs may refer to nodes added later; TopologicalOrder and
  // the verifier detect cycles.
  absl::StatusOr<NodeId> AddNode(Node node);
  // `name`, or `name_1`, `name_2` ... if it is taken.
  std::string UniqueName(absl::string_view name) const;

  const Node* FindNode(absl::string_view name) const;  // null: none
  bool Has(NodeId id) const {
    return id >= 0 && static_cast<size_t>(id) < nodes_.size() &&
           nodes_[static_cast<size_t>(id)].id == id;
  }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  // One past the highest id. Ids of removed nodes are gaps: Has(id) is false.
  NodeId end_id() const { return static_cast<NodeId>(nodes_.size()); }
  size_t num_nodes() const { return by_name_.size(); }
  std::vector<NodeId> NodeIds() const;

  // Each node comes after its data and control inputs; ties are in id order, so the order depends
  // only on the graph. InvalidArgument, naming the node, on a cycle or a missing input.
  absl::StatusOr<std::vector<NodeId>> TopologicalOrder() const;

  const std::vector<GraphInput>& inputs() const { return inputs_; }
  void AddInput(GraphInput input);
  const std::vector<GraphOutput>& outputs() const { return outputs_; }
  void AddOutput(GraphOutput output);
  // Replaces the fetches; the nodes stay the same. Do not call it while a Rewriter works on the
  // graph.
  void SetOutputs(std::vector<GraphOutput> outputs);
  // Nodes that must run even if no output needs them (initializers, assignments).
  const std::vector<NodeId>& targets() const { return targets_; }
  void AddTarget(NodeId id);

  const FunctionLibrary& functions() const { return functions_; }
  void SetFunctions(FunctionLibrary functions);
  // Adds a function, or replaces the function of that name; iterators over functions() stay valid.
  void SetFunction(const std::string& name, std::shared_ptr<const Graph> body);
  FunctionLibrary TakeFunctions();

 private:
  friend class Rewriter;
  Node& mutable_node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  void Erase(NodeId id);

  std::deque<Node> nodes_;
  HashMap<std::string, NodeId> by_name_;
  std::vector<GraphInput> inputs_;
  std::vector<GraphOutput> outputs_;
  std::vector<NodeId> targets_;
  FunctionLibrary functions_;
};

// "node 'x' (Op)", the form in which errors name a node.
std::string NodeLabel(absl::string_view name, absl::string_view op);
inline std::string NodeLabel(const Node& node) { return NodeLabel(node.name, node.op); }
// "name:port", or "name" for port 0.
std::string EndpointName(const Graph& graph, Endpoint e);

}  // namespace tenon

#endif  // TENON_GRAPH_GRAPH_H_
