// The only way to change a finished graph. Keeps use lists correct, tracks which nodes changed, and
// can record each step, as a diff or as data, tagged with the rule that made it.
//
//   Rewriter rw(graph);
//   rw.BeginStep("FuseConv2D", relu_name);
//   NodeId fused = rw.AddNode({.name = "relu", .op = "_FusedConv2D", .inputs = {...}});
//   rw.ReplaceAllUses({relu, 0}, {fused, 0});
//   rw.Remove(relu);
//   rw.EndStep();
//
// Edits cannot fail: a rule computes everything that can fail (shapes, new constants) before its
// first edit.
#ifndef TENON_GRAPH_REWRITER_H_
#define TENON_GRAPH_REWRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "graph/edit_log.h"
#include "graph/graph.h"

namespace tenon {

// One use of a node: data input `slot` of `reader` (from `port`), or a control edge.
struct Use {
  static constexpr int kControl = -1;
  NodeId reader = kNoNode;
  int slot = kControl;
  int port = 0;
  bool is_control() const { return slot == kControl; }
};

// One firing of a rule.
struct RewriteStep {
  std::string rule;
  std::string node;               // where it fired
  std::string function = {};      // of the graph's library, "outer/inner"; empty: the graph itself
  std::vector<std::string> diff;  // with RecordDiffs: "- ..." and "+ ..." for nodes that it changed
  GraphEdit edit = {};            // with RecordEdits
};

class Rewriter {
 public:
  // The graph must outlive the rewriter; nobody else may change it in the meantime.
  explicit Rewriter(Graph& graph);

  const Graph& graph() const { return graph_; }
  const Node& node(NodeId id) const { return graph_.node(id); }
  bool Has(NodeId id) const { return graph_.Has(id); }

  // ---- queries ----
  absl::Span<const Use> uses(NodeId id) const { return uses_[static_cast<size_t>(id)]; }
  // The number of data inputs that read this port.
  int NumReaders(Endpoint e) const;
  // Whether the port is an output of the graph. For a node: whether any port is, or the node is a
  // target or an input.
  bool IsOutput(Endpoint e) const { return outputs_.contains(e); }
  bool IsKept(NodeId id) const { return kept_[static_cast<size_t>(id)] > 0; }
  // Whether `node` depends, directly or indirectly, on `from` (by data or control edges).
  bool DependsOn(NodeId node, NodeId from) const;
  // Increases whenever the node's op, inputs or attributes change; never repeats for one id.
  uint32_t version(NodeId id) const { return versions_[static_cast<size_t>(id)]; }
  // Nodes that were added, were changed, or have other readers since the last call.
  std::vector<NodeId> TakeTouched();

  // ---- edits ----
  // Makes the node's name unique; its inputs must be in the graph.
  NodeId AddNode(Node node);
  // Nothing may read the node any more, and it must not be an output, input or target.
  void Remove(NodeId id);
  // Removes the node if nothing reads it and it is not kept; then, in the same way, what it read.
  void RemoveIfDead(NodeId id);
  void SetOp(NodeId id, absl::string_view op);
  void SetInput(NodeId id, int slot, Endpoint value);
  void SetInputs(NodeId id, absl::Span<const Endpoint> inputs);
  void SetControlInputs(NodeId id, absl::Span<const NodeId> controls);
  void SetAttr(NodeId id, absl::string_view name, AttrValue value);
  void EraseAttr(NodeId id, absl::string_view name);
  // Moves an attribute's value out, so that its buffer can be changed in place if nobody else holds
  // it; put it back with SetAttr.
  AttrValue TakeAttr(NodeId id, absl::string_view name);
  // The new name must be free.
  void Rename(NodeId id, absl::string_view name);
  // Adds a function to the graph's library, or replaces the function of that name.
  void SetFunction(const std::string& name, std::shared_ptr<const Graph> body);
  // Makes readers and outputs of `from` use `to` instead.
  void ReplaceAllUses(Endpoint from, Endpoint to);
  // Makes the outputs of `from` be `to` instead; readers keep `from`.
  void ReplaceOutputs(Endpoint from, Endpoint to);
  // Makes control edges from `from` come from `to` instead.
  void ReplaceControlUses(NodeId from, NodeId to);
  // Replaces `old` by `by`: all uses of old's port 0, its control edges and its name move to `by`,
  // and `old` is removed.
  void ReplaceNode(NodeId old, Endpoint by);

  // ---- the trace ----
  // If both are off, steps are counted but not described.
  void RecordDiffs(bool record) { record_ = record; }
  void RecordEdits(bool record);
  void BeginStep(absl::string_view rule, absl::string_view node);
  // Returns true if anything changed since BeginStep.
  bool EndStep();
  const std::vector<RewriteStep>& steps() const { return steps_; }
  std::vector<RewriteStep> TakeSteps() { return std::move(steps_); }

 private:
  void BeforeChange(NodeId id);
  void AddUse(NodeId of, Use use);
  void DropUse(NodeId of, Use use);
  // Its index in a long list of uses. The search begins at the use that was dropped last: rules
  // drop neighbors one after another. The list's size: not found.
  size_t FindNearLast(NodeId of, const Use& use);
  // Fills order_.
  void Order() const;
  // Forgets order_ if it does not hold for a new edge.
  void CheckOrder(NodeId reader, NodeId input);
  void Touch(NodeId id);
  Node& mutable_node(NodeId id) { return graph_.mutable_node(id); }

  Graph& graph_;
  std::vector<absl::InlinedVector<Use, 2>> uses_;
  std::vector<uint32_t> versions_;
  std::vector<int> kept_;  // by node: how many outputs, inputs and targets of the graph it is
  HashMap<Endpoint, absl::InlinedVector<int, 1>> outputs_;  // positions in outputs()
  NodeId dropped_of_ = kNoNode;                             // where FindNearLast found the last one
  size_t dropped_at_ = 0;
  // By node: a number greater than those of all nodes that it depends on. With gaps, so that new
  // nodes fit in between. Empty: not computed. DependsOn visits no node with a smaller number than
  // the one that it looks for.
  mutable std::vector<int64_t> order_;
  std::vector<NodeId> touched_;
  std::vector<bool> is_touched_;
  bool record_ = false;
  std::unique_ptr<EditLog> log_;  // null: not recorded
  std::string step_rule_, step_node_;
  bool in_step_ = false;
  bool changed_ = false;
  std::vector<std::pair<NodeId, std::string>> before_;  // of this step; "" for a new node
  std::vector<RewriteStep> steps_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITER_H_
