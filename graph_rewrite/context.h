// What rules see and use: the rewriter, what is known of shapes, services for evaluating constants.
#ifndef TENON_GRAPH_REWRITE_CONTEXT_H_
#define TENON_GRAPH_REWRITE_CONTEXT_H_

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph/rewriter.h"
#include "graph_rewrite/shapes.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// What came of trying a rule at a node.
struct Outcome {
  bool fired = false;
  int progress = 0;        // how much matched before it failed: explain shows the best try
  std::string reason;      // why it did not fire; empty: not this rule's business
  NodeId blame = kNoNode;  // the node at which it stopped

  static Outcome Fired() { return {true, 0, "", kNoNode}; }
  static Outcome NotMine() { return {}; }
  static Outcome Skip(int progress, std::string reason, NodeId blame = kNoNode) {
    return {false, progress, std::move(reason), blame};
  }
};

class RuleContext {
 public:
  RuleContext(Rewriter& rewriter, const Services& services)
      : rw(rewriter), shapes(rewriter, services), services(services) {}

  const Graph& graph() const { return rw.graph(); }
  const Node& node(NodeId id) const { return rw.node(id); }
  const Node& node(Endpoint e) const { return rw.node(e.node); }

  // The tensor of a Const node, else null.
  const Tensor* Constant(Endpoint e) const {
    const Node& n = rw.node(e.node);
    return n.op == "Const" ? n.attr<Tensor>("value") : nullptr;
  }
  // The only data reader of port 0, if the node has one output in use, one reader, no control edges
  // out, and is no output of the graph. Else kNoNode, and `why` says so.
  NodeId OnlyReader(NodeId id, std::string* why = nullptr) const;

  // A Const node that holds `value`; named after `hint`.
  NodeId AddConst(absl::string_view hint, Tensor value);
  // A node with its defaults filled in. Error: an attribute is missing.
  absl::StatusOr<NodeId> AddNode(Node node);
  // Removes the node if nothing reads it and it is not kept, and then its inputs likewise.
  void RemoveIfDead(NodeId id);

  // For sweeps: one edit of `rule` at `node`.
  void Step(absl::string_view rule, absl::string_view node) { rw.BeginStep(rule, node); }
  void EndStep(absl::string_view rule) {
    if (rw.EndStep()) ++fired[rule];
  }

  Rewriter& rw;
  ShapeInfo shapes;
  const Services& services;
  absl::flat_hash_map<std::string, int> fired;
  // Reasons may be spelled out at leisure; otherwise they cost time on every try.
  bool explaining = false;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CONTEXT_H_
