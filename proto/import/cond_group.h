// What becomes one If: the Merges of a condition and what is in its branches.
#ifndef TENON_PROTO_IMPORT_COND_GROUP_H_
#define TENON_PROTO_IMPORT_COND_GROUP_H_

#include <vector>

#include "absl/status/status.h"
#include "env/containers.h"
#include "proto/import/cond_sides.h"
#include "proto/import/draft.h"
#include "proto/import/functionalize.h"

namespace tenon {

// What joins the branches of one condition.
struct CondGroup {
  Endpoint predicate;
  std::vector<NodeId> merges;
  std::vector<Endpoint> arguments;
  std::vector<int> inputs[2];     // by value of the predicate, and by Merge: the branch's result
  HashMap<NodeId, int> inside;    // nodes in branches, and in which
  HashSet<NodeId> once;           // of `inside`: what runs once, and what needs such nodes
  std::vector<Endpoint> exports;  // of `once`, read by branches of later groups
  std::vector<NodeId> waiting;    // nodes outside that wait for those of `once`
  std::vector<NodeId> awaited;    // nodes outside that those in branches wait for
};

// Whether the node must not run a second time: it draws random numbers, or changes something, such
// as a stack; or it calls a function that does.
bool RunsOnce(const Node& n, const std::vector<FunctionalizedBody>& bodies);

// Fills in a group of which the predicate and the merges are known. The arguments are those of both
// branches: inputs of their Switch nodes, and tensors from outside.
absl::Status FillGroup(const Draft& draft, const CondSides& sides,
                       const std::vector<FunctionalizedBody>& bodies, CondGroup& group);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_COND_GROUP_H_
