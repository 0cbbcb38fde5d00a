// Where the conditions of Switch and Merge nodes begin and end.
#ifndef TENON_PROTO_IMPORT_COND_SIDES_H_
#define TENON_PROTO_IMPORT_COND_SIDES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "proto/import/draft.h"

namespace tenon {

// The nodes on the path from a Merge's input back to the nearest Switch nodes.
struct CondSide {
  std::vector<NodeId> order;  // each node after the nodes that it needs
  HashSet<NodeId> inside;     // those that depend on a Switch
  std::optional<Endpoint> predicate;
  int port = -1;         // of the Switch nodes: 0 false, 1 true
  int depth = -1;        // of the predicate's Switch nodes
  bool several = false;  // predicates, none of them of an inner condition

  // The predicate of a Switch; that of the innermost condition counts.
  void Add(Endpoint p, int at);
};

// Finds conditions in a draft that may change between calls.
class CondSides {
 public:
  explicit CondSides(const Draft& draft) : draft_(draft) {}

  // How many conditions each live node waits for. What joins a condition's branches ends it.
  void FindDepths();
  // The node's number, as FindDepths last found it; -1: nothing needs the node.
  int DepthOf(NodeId id) const;

  // Live Merge nodes; Merges that need no other one come first, and those of inner conditions
  // before those of outer ones, so that what is in a branch ends up in one If.
  std::vector<NodeId> Merges() const;
  // Whether the node waits for a Merge other than itself.
  bool ReadsMerge(NodeId id) const;
  // Everything that these nodes wait for.
  HashSet<NodeId> NeededBy(const HashSet<NodeId>& nodes) const;

  // Whether the node is a Switch of the condition. Switches of other conditions, which are outer
  // ones, are outside: what they give is there in both branches. Without a condition all Switches
  // count.
  bool IsBoundary(NodeId id, const std::optional<Endpoint>& condition) const;
  CondSide Explore(Endpoint from, std::optional<Endpoint> condition = std::nullopt) const;
  // Of the condition whose branches the Merge joins.
  absl::StatusOr<Endpoint> PredicateOf(NodeId merge) const;

 private:
  int InputsDepth(NodeId id) const;

  const Draft& draft_;
  std::vector<int> depths_;  // by node
};

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_COND_SIDES_H_
