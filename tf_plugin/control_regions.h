// Finds the branches and loops of a graph in which control flow is a matter of single nodes:
// TensorFlow lowers If and While to Switch, Merge, Enter and so on.
//
// A node is conditional if its results may be dead tensors, because it is in a branch that is not
// taken, or if it is in a loop's frame. A region is a set of conditional nodes that edges connect,
// with the nodes where they begin (Switch, Enter) and end (Merge, Exit): what enters and what
// leaves a region are tensors that are always there, once each.
#ifndef TENON_TF_PLUGIN_CONTROL_REGIONS_H_
#define TENON_TF_PLUGIN_CONTROL_REGIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

bool IsControlFlow(absl::string_view op);

class ControlRegions {
 public:
  // `order`: the nodes, each after its inputs; back edges of loops are not in the graph.
  ControlRegions(const ProcessGraph& process, const Graph& graph, const std::vector<NodeId>& order);

  bool IsConditional(NodeId id) const { return StateOf(id).IsConditional(); }
  bool IsConditional(const Endpoint& e) const { return StateOf(e).IsConditional(); }
  // The nodes of each region, in the order given.
  std::vector<std::vector<NodeId>> Regions();

 private:
  // A side of a condition: the index of the condition, and which output of its Switches.
  using Side = std::pair<int, int>;
  struct State {
    int frame = -1;                        // -1: none
    absl::InlinedVector<Side, 1> sides{};  // that must be taken; sorted
    bool IsConditional() const { return frame >= 0 || !sides.empty(); }
    void Add(const State& other);
  };
  struct Frame {
    State outer;  // of what enters it
    int depth = 0;
  };

  const State& StateOf(NodeId id) const { return states_[static_cast<size_t>(id)]; }
  State StateOf(const Endpoint& e) const;
  void Read(const Node& n);
  // What is known of a Merge's result by its inputs.
  State Merged(const Node& n, const std::vector<State>& inputs);
  // Adds the frame if it is deeper.
  void SetFrame(State& state, const State& input) const;
  int ConditionOf(const Node& switch_node);
  NodeId RootOf(NodeId id);

  const ProcessGraph& process_;
  const Graph& graph_;
  const std::vector<NodeId>& order_;
  std::vector<State> states_;  // by NodeId
  HashMap<Endpoint, int> conditions_;
  std::vector<int> num_sides_;  // by condition
  HashMap<std::string, int> frame_indices_;
  std::vector<Frame> frames_;
  std::vector<NodeId> roots_;  // another node of the region, or itself
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_CONTROL_REGIONS_H_
