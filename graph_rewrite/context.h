// The context of rules: the rewriter, known shapes, and services for evaluating constants.
#ifndef TENON_GRAPH_REWRITE_CONTEXT_H_
#define TENON_GRAPH_REWRITE_CONTEXT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/constants.h"
#include "graph/rewriter.h"
#include "graph_rewrite/loop_invariants.h"
#include "graph_rewrite/reason.h"
#include "graph_rewrite/shapes.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The outcome of trying a rule at a node.
struct Outcome {
  bool fired = false;
  int progress = 0;        // how much matched before it failed: explain shows the best try
  std::string reason;      // why it did not fire; empty: the rule does not apply here
  NodeId blame = kNoNode;  // the node at which it stopped
  ReasonKind kind = ReasonKind::kCondition;
  std::vector<NodeId> matched = {};  // while explaining: the ops that a pattern had matched

  static Outcome Fired() { return {true, 0, "", kNoNode}; }
  static Outcome NotMine() { return {}; }
  static Outcome Skip(int progress, std::string reason, NodeId blame = kNoNode,
                      ReasonKind kind = ReasonKind::kCondition) {
    return {false, progress, std::move(reason), blame, kind};
  }
};

// A safety check that stopped a rule.
struct Block {
  ReasonKind kind = ReasonKind::kReader;
  NodeId node = kNoNode;
  friend bool operator==(const Block& a, const Block& b) {
    return a.kind == b.kind && a.node == b.node;
  }
};

// Why a rule's condition does not hold.
inline absl::Status WhyNot(absl::string_view reason) {
  return absl::FailedPreconditionError(reason);
}

class RuleContext {
 public:
  // `outer`: the library of the graph that has the rewriter's graph as a function; null: none has.
  RuleContext(Rewriter& rewriter, const Services& services, LoopInvariants loop_invariants = {},
              const FunctionLibrary* outer = nullptr)
      : rw(rewriter),
        shapes(rewriter, services, outer),
        services(services),
        loop_invariants_(std::move(loop_invariants)) {}

  const Graph& graph() const { return rw.graph(); }
  const Node& node(NodeId id) const { return rw.node(id); }
  const Node& node(Endpoint e) const { return rw.node(e.node); }
  // The function that nodes of the graph call by that name; null: none.
  std::shared_ptr<const Graph> FindFunction(absl::string_view name) const;

  // The tensor of a Const node; null for other nodes.
  const Tensor* Constant(Endpoint e) const { return ConstantOf(rw.node(e.node)); }
  // ---- safety ----
  // Whether a rule may replace or bypass the node: it has no control inputs, which would be lost.
  // `why` gets the reason why not.
  bool IsCandidate(NodeId id, std::string* why = nullptr) const;
  // The node, or the producer of an input, for a rule that replaces or bypasses it. If it is not a
  // candidate, a node without an op: nothing matches that, and the driver reports the reason.
  const Node& Candidate(NodeId id);
  const Node& Candidate(Endpoint e) { return Candidate(e.node); }
  // All candidates in topological order, for sweeps.
  absl::StatusOr<std::vector<NodeId>> Candidates() const;
  // Whether the node is a candidate, has no control edges out and is not a target, so that it can
  // be computed together with another node. The driver reports the reason why not.
  bool IsUnordered(NodeId id);
  // Whether `reader` is the OnlyReader. The driver reports the reason why not.
  bool HasOnlyReader(NodeId id, NodeId reader);
  // The only data reader of port 0, if the node has one output in use, one reader, no outgoing
  // control edges, is not an output of the graph, and does no work that a loop would repeat if it
  // were the reader's. Otherwise kNoNode, and `why` says so.
  NodeId OnlyReader(NodeId id, std::string* why = nullptr) const;
  // Whether a loop would repeat the node's work if it were the reader's.
  bool EndsInvariance(NodeId id, NodeId reader) const {
    return loop_invariants_.EndAt(graph(), id, reader);
  }

  // ---- editing ----
  // Adds a Const node with `value`, named after `hint`.
  NodeId AddConst(absl::string_view hint, Tensor value);
  // Adds a node with its defaults filled in. An error if an attribute is missing.
  absl::StatusOr<NodeId> AddNode(Node node);
  void RemoveIfDead(NodeId id) { rw.RemoveIfDead(id); }

  // For sweeps: begins one edit of `rule` at `node`.
  void Step(absl::string_view rule, absl::string_view node) { rw.BeginStep(rule, node); }
  void EndStep(absl::string_view rule) {
    if (rw.EndStep()) ++fired[rule];
  }

  Rewriter& rw;
  ShapeInfo shapes;
  const Services& services;
  HashMap<std::string, int> fired;
  // Whether to spell out reasons; otherwise they would cost time on every try.
  bool explaining = false;

  // Whether rules may start at results of dtypes that they do not support; to find out what they
  // would do.
  bool any_dtype = false;

  // For the driver: the safety check that stopped the rule tried last, if any. Recorded only while
  // `explaining`.
  Outcome TakeRefusal() { return std::exchange(refusal_, Outcome()); }
  // All safety checks that failed since the last call, while `explaining`.
  std::vector<Block> TakeBlocks() { return std::exchange(blocks_, {}); }
  void NoteBlock(ReasonKind kind, NodeId node) const;
  // Which kind of block keeps the node from having a single reader.
  ReasonKind BlockOf(NodeId id) const;

 private:
  void Refuse(NodeId id, std::string reason, ReasonKind kind);

  Outcome refusal_;
  mutable std::vector<Block> blocks_;
  mutable LoopInvariants loop_invariants_;  // knows more with each question
};

// Adds a Const with this value, named after `hint`, to any graph, such as the body of a loop.
NodeId AddConst(Rewriter& rw, absl::string_view hint, Tensor value);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CONTEXT_H_
