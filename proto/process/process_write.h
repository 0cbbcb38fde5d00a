// Writes a rewritten graph back as TensorFlow's own nodes; unchanged nodes come out as they went
// in.
#ifndef TENON_PROTO_PROCESS_PROCESS_WRITE_H_
#define TENON_PROTO_PROCESS_PROCESS_WRITE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "proto/process/process_graph.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace tenon {

namespace tf {
class NodeDef;
}

// A node of the original graph.
struct ProcessOriginal {
  tf::NodeDef* def = nullptr;
  std::vector<Endpoint> inputs;  // by position in the GraphDef; kNoNode if cut
  std::vector<NodeId> controls;
  std::vector<std::pair<int, std::string>> cut;  // data inputs that are not in the graph
  std::string op;                                // as imported
  AttrMap attrs;
  bool known = false;
  Node movable;  // without an op if it is not, or if it is known
};

class ProcessWriter {
 public:
  // `originals` by NodeId; later nodes are new and get device `home`. With `branches`, a tensor may
  // be dead or belong to a loop; there a new constant has one reader, and waits for its inputs.
  ProcessWriter(const Graph& graph, const std::vector<ProcessOriginal>& originals,
                const ProcessNames& names, const std::string& home, bool branches)
      : graph_(graph), originals_(originals), names_(names), home_(home), branches_(branches) {}

  absl::Status Write(google::protobuf::RepeatedPtrField<tf::NodeDef>& nodes) const;

 private:
  const ProcessOriginal* OriginalOf(NodeId id) const {
    return static_cast<size_t>(id) < originals_.size() ? &originals_[static_cast<size_t>(id)]
                                                       : nullptr;
  }
  absl::Status WriteNode(const Node& n, tf::NodeDef& def) const;
  absl::Status WriteInputs(const Node& n, tf::NodeDef& def) const;
  absl::Status WriteAttrs(const Node& n, const OpInfo& row, tf::NodeDef& def) const;
  // The inputs that come from a constant or variable.
  std::vector<int64_t> StableInputs(const Node& n) const;
  // For a new constant with one reader in a graph with branches: the nodes to wait for. A Merge
  // reads from several branches, so what counts is what the constant was computed from.
  absl::StatusOr<std::vector<NodeId>> Anchors(NodeId constant) const;
  // The node, or what is left in the graph of those that it was computed from.
  std::vector<NodeId> LeftOf(NodeId original) const;

  const Graph& graph_;
  const std::vector<ProcessOriginal>& originals_;
  const ProcessNames& names_;
  const std::string& home_;
  const bool branches_;
};

}  // namespace tenon

#endif  // TENON_PROTO_PROCESS_PROCESS_WRITE_H_
