// A graph during import: nodes can still be changed in place. Each node comes after its inputs,
// except for constants added late.
#ifndef TENON_PROTO_IMPORT_DRAFT_H_
#define TENON_PROTO_IMPORT_DRAFT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/graph.h"

namespace tenon {

struct OpInfo;

class Draft {
 public:
  explicit Draft(size_t max_nodes) : max_nodes_(max_nodes) {}

  // Assigns the node's id, and another name if its own is taken. ResourceExhausted if there are
  // max_nodes already. `effect`: the node, or one that it needs, has a side effect, so other nodes
  // may have to wait for it.
  absl::StatusOr<NodeId> Add(Node node, bool effect);
  // A scalar int32 constant.
  absl::StatusOr<NodeId> AddScalar(const std::string& name, int32_t value);

  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  bool effect(NodeId id) const { return effect_[static_cast<size_t>(id)]; }
  NodeId end_id() const { return static_cast<NodeId>(nodes_.size()); }

  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<NodeId> targets;

  // What `e` passes on: the first value on the way back that no Identity gives.
  Endpoint SkipIdentities(Endpoint e) const;
  // For each node, whether outputs, targets or inputs need it.
  std::vector<bool> Live() const;
  // Replaces every use of `forward`'s keys by their values, following chains to the end.
  void Forward(const HashMap<Endpoint, Endpoint>& forward);
  // Drops control edges from nodes that need not be waited for: nodes that neither have side
  // effects themselves (`has_side_effects` tells by op) nor wait for a node that has.
  void DropIdleControls(bool (*has_side_effects)(absl::string_view op));
  // The live nodes as a graph.
  absl::StatusOr<Graph> ToGraph() &&;

 private:
  size_t max_nodes_;
  std::vector<Node> nodes_;
  std::vector<bool> effect_;
  HashSet<std::string> names_;
};

// An InvalidArgument, naming the node, unless it has as many data inputs as its op takes. The
// node's attributes must be complete.
absl::Status CheckInputCount(const OpInfo& op, const Node& node);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_DRAFT_H_
