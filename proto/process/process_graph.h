// Imports and exports graphs that TensorFlow, in its own process, passes to Tenon for optimization.
// Unlike a model file, such a graph remains TensorFlow's: nodes that Tenon does not know or must
// not touch (variables, control flow, other devices, nodes that may be fed) become `_Opaque` nodes,
// which keep their place and are written back unchanged. Functions stay in the library and are not
// inlined.
//
//   TENON_ASSIGN_OR_RETURN(auto process, ProcessGraph::Parse(bytes, options));
//   ... Rewrite(process->graph()) ...
//   TENON_ASSIGN_OR_RETURN(std::string out, process->Serialize());
//
// Private ops are written with names that TensorFlow's process knows (options.names).
#ifndef TENON_PROTO_PROCESS_PROCESS_GRAPH_H_
#define TENON_PROTO_PROCESS_PROCESS_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"
#include "ops/op.h"

namespace tenon {

// An attribute of private nodes: the inputs that always come from the same constant or variable.
// Found when the graph is written, unless a new node has it.
inline constexpr char kStableInputsAttr[] = "_tenon_stable_inputs";

// The names of ops in the other process.
struct ProcessNames {
  // The row in our table that `op` means there; null if there is none.
  std::function<const OpInfo*(const std::string& op)> row;
  // Whether the op is stateful there: it may have an effect, even if our row says nothing of it.
  std::function<bool(const std::string& op)> stateful;
  // The op name to write for a node: its own or a private one. NotFound if it has none there.
  std::function<absl::StatusOr<std::string>(const OpInfo& row, const Node& node)> name;
};

struct ProcessGraphOptions {
  ProcessNames names;
  // Names of nodes that must still exist afterwards; those that are not fetched may be fed.
  HashSet<std::string> preserved;
  HashSet<std::string> fetched;
  // dtype and shape of each output of a node, as TensorFlow infers them; empty if unknown.
  std::function<std::vector<TensorSpec>(const std::string& node)> outputs;
};

// A part of a graph that can be imported by itself: a placeholder for each input, and these nodes.
struct ProcessPart {
  struct Input {
    Endpoint source;
    TensorSpec spec;
  };
  std::vector<Input> inputs;
  std::vector<NodeId> nodes;  // constants that they read need not be among them
  std::vector<Endpoint> outputs;
  // Nodes that pass on a variable's value, of this dtype, where the graph passes on its handle; a
  // ReadVariableOp becomes an Identity, a ResourceGather a Gather.
  HashMap<NodeId, DType> values;
};
struct ProcessExtract {
  std::string graph_def;
  std::vector<std::string> feeds;    // the placeholders that the inputs are there
  std::vector<std::string> fetches;  // the tensors that the outputs are there
};

class ProcessGraph {
 public:
  // InvalidArgument for bytes that are not a GraphDef, or for an inconsistent graph.
  static absl::StatusOr<std::unique_ptr<ProcessGraph>> Parse(absl::string_view bytes,
                                                             ProcessGraphOptions options);
  virtual ~ProcessGraph() = default;

  // The nodes' ops, as named in the bytes. Cheap: works before Import, which `graph` needs.
  virtual std::vector<std::string> Ops() const = 0;
  virtual absl::Status Import() = 0;
  virtual Graph& graph() = 0;
  // The op of a node of graph(), as named in the bytes; empty for a node that was added.
  virtual absl::string_view OpOf(NodeId id) const = 0;
  // The node with Tenon's op and attributes, without inputs, if its results are the same wherever
  // they are computed; null otherwise. Besides nodes that rewrites may change, these are control
  // flow (Switch, Enter ...), reads of variables, and nodes whose tensors hold objects. Only before
  // graph() has been changed.
  virtual const Node* Movable(NodeId id) const = 0;
  // Also only before graph() has been changed. The part's nodes are movable.
  virtual absl::StatusOr<ProcessExtract> Extract(const ProcessPart& part) const = 0;
  // The whole GraphDef. An error if the rewritten graph cannot be expressed there: the caller then
  // keeps its original graph.
  virtual absl::StatusOr<std::string> Serialize() = 0;
};

// A NodeDef's op, name and attributes (private ones, "_x", only where they are ints).
absl::StatusOr<Node> ParseNodeDef(absl::string_view bytes);
// An op in an OpList, with the number of its input and output arguments.
struct ProcessOp {
  std::string name;
  int inputs = 0;
  int outputs = 0;
  bool stateful = false;
};
absl::StatusOr<std::vector<ProcessOp>> ParseOpList(absl::string_view bytes);
// Parses OpInfo.TensorProperties.
absl::StatusOr<TensorSpec> ParseTensorProperties(absl::string_view bytes);

}  // namespace tenon

#endif  // TENON_PROTO_PROCESS_PROCESS_GRAPH_H_
