// Finds the parts of TensorFlow's graph that Tenon can run whole, and replaces each by one node,
// `_TenonSubgraph`, whose kernel (subgraph_kernel.h) runs it in a session. That saves TensorFlow's
// work per node, and lets the session do what single nodes cannot: fold weights into each other,
// plan memory, keep images in the caches from one convolution to the next.
//
// A part has only nodes that Tenon runs and that change nothing. Whatever else depends on one of
// its nodes and leads to another one would have to run in the middle of it, so such nodes are in
// different parts. A branch or a loop of TensorFlow's (control_regions.h) is in a part whole or not
// at all; the part then gets the values of the variables that are read there. A part waits for all
// of its inputs, so its nodes wait for the same ops that may have to wait themselves, such as a
// dequeue: one may wait for what another one gives.
#ifndef TENON_TF_PLUGIN_SUBGRAPHS_H_
#define TENON_TF_PLUGIN_SUBGRAPHS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/rewriter.h"
#include "graph/tensor_spec.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

struct Subgraph {
  struct Input {
    Endpoint source;
    bool is_handle = false;  // of a variable, whose value the part reads
    bool is_stable = false;  // a constant, or a variable that no node of the graph changes
    DType dtype = DType::kInvalid;
  };
  std::vector<NodeId> nodes;      // in topological order
  std::vector<Input> inputs;      // what they read of other nodes
  std::vector<Endpoint> outputs;  // what others read of them
  std::vector<NodeId> waits_for;  // other nodes that must have run before
  bool has_control_flow = false;
  std::string graph_def;           // with a placeholder for each input
  std::vector<std::string> feeds;  // the placeholders' names
  std::vector<std::string> fetches;
  Graph graph;  // the same, imported
};

// dtype and shape of each output of a node, as TensorFlow infers them.
using OutputsFn = std::function<std::vector<TensorSpec>(const std::string& node)>;

// Those with at least `least_accelerated` nodes that have accelerated kernels; each before those
// that it depends on.
absl::StatusOr<std::vector<Subgraph>> FindSubgraphs(ProcessGraph& process, int least_accelerated,
                                                    const OutputsFn& outputs_of);

// Puts a node `_Subgraph` in its place, after those that depend on it have been replaced.
absl::Status ReplaceSubgraph(Rewriter& rewriter, const Subgraph& part);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_SUBGRAPHS_H_
