// Decides which nodes of TensorFlow's graph are which part (subgraphs.h).
#ifndef TENON_TF_PLUGIN_SUBGRAPH_FINDER_H_
#define TENON_TF_PLUGIN_SUBGRAPH_FINDER_H_

#include <cstdint>
#include <vector>

#include "env/containers.h"
#include "graph/graph.h"
#include "proto/process/process_graph.h"
#include "tf_plugin/control_regions.h"
#include "tf_plugin/subgraphs.h"
#include "tf_plugin/variable_use.h"

namespace tenon::plugin {

class SubgraphFinder {
 public:
  // `order`: the nodes, each after its inputs.
  SubgraphFinder(const ProcessGraph& process, const Graph& graph, std::vector<NodeId> order);

  // Parts without graph_def and graph, but with inputs and outputs; each before those that it
  // depends on.
  std::vector<Subgraph> Find(int least_accelerated);
  // The nodes of the part that pass on the value of a variable, with its dtype.
  HashMap<NodeId, DType> ValuesIn(const Subgraph& part) const;
  // From now on the part's branches and loops are in none.
  void LeaveOutRegions(const Subgraph& part);

 private:
  // What is in a part whole or not at all: a node, or a region.
  struct Unit {
    std::vector<NodeId> nodes;
    std::vector<int> before{};  // units that it reads or waits for, but for free constants
    bool inside = false;        // of some part
    // How often the longest way to the unit enters or leaves those inside. Between two units inside
    // of the same level, no way leads through one that is not.
    int level = 0;
    // A bit for each op that may wait and that the unit depends on, or is.
    uint64_t waits_for = 0;
    uint64_t own_wait = 0;  // the bit of the unit itself
    int part = -1;          // another unit of the part, or itself
    bool is_region = false;
    bool runs_in_part = false;
    // It is of a loop that is no unit, or depends on one: what that waits for is not known.
    bool after_split = false;
  };
  struct Region {
    std::vector<NodeId> nodes;
    bool runs_in_part = false;
  };

  bool Runs(const Node& n) const;
  bool RunsInRegion(const Node& n) const;
  // Whether a node that gives a variable's value may get it when the part begins.
  bool MayReadAhead(const Node& read, const Endpoint& handle) const;
  bool RunsInPart(const std::vector<NodeId>& region) const;
  // False if regions depend on each other; they are then split into their nodes.
  bool MakeUnits();
  // A region in a part reads variables when the part begins, so what changes them must come later.
  void CheckReads();
  void SetLevels();
  // Makes units inside as late as those that read them, and lets them wait for what these wait for,
  // so that more of them are together.
  void RaiseLevels();
  void JoinUnits();
  int PartOf(int unit);
  bool SameParts(NodeId a, NodeId b) {
    return PartOf(unit_of_[static_cast<size_t>(a)]) == PartOf(unit_of_[static_cast<size_t>(b)]);
  }
  // Leaves out what passes objects on to other parts. Whether there was such.
  bool LeaveOutObjects();
  void FindBorder(Subgraph& part) const;
  int CountAccelerated(const std::vector<NodeId>& nodes) const;
  // Of movable nodes.
  DType OutputDType(const Endpoint& e) const;
  DType InputDType(NodeId id, size_t slot) const;

  const ProcessGraph& process_;
  const Graph& graph_;
  const std::vector<NodeId> order_;
  ControlRegions control_;
  VariableUse variables_;
  HashSet<Endpoint> read_anyway_;  // variables, whatever branches are taken
  std::vector<Region> regions_;
  HashSet<NodeId> split_;     // nodes of regions that are no units
  HashSet<NodeId> left_out_;  // the first nodes of units that cannot be in parts
  std::vector<Unit> units_;   // in topological order
  std::vector<int> unit_of_;  // by NodeId
  int num_waiting_ = 0;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_SUBGRAPH_FINDER_H_
