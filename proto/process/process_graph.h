// Graphs that TensorFlow hands over in its own process to be optimized, in and out again. Unlike a
// model file such a graph stays TensorFlow's: nodes that Tenon does not know, or must not touch
// (variables, control flow, other devices, what may be fed), become `_Opaque` nodes that keep their
// place, and come out as they went in. Functions stay in the library, not inlined.
//
//   TENON_ASSIGN_OR_RETURN(auto process, ProcessGraph::Parse(bytes, options));
//   ... Rewrite(process->graph()) ...
//   TENON_ASSIGN_OR_RETURN(std::string out, process->Serialize());
//
// Private ops are written under names that TensorFlow's process knows (options.names).
#ifndef TENON_PROTO_PROCESS_PROCESS_GRAPH_H_
#define TENON_PROTO_PROCESS_PROCESS_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"
#include "ops/op.h"

namespace tenon {

// Attribute of private nodes: the inputs that come, each time, from one constant or variable.
inline constexpr char kStableInputsAttr[] = "_tenon_stable_inputs";

// How ops are called in the other process.
struct ProcessNames {
  // The op of our table that `op` means there; null: none.
  std::function<const OpInfo*(const std::string& op)> row;
  // What to write for a node: the op's own name or a private one. NotFound: it has none there.
  std::function<absl::StatusOr<std::string>(const OpInfo& row, const Node& node)> name;
};

struct ProcessGraphOptions {
  ProcessNames names;
  // Names of nodes that must be there afterwards; those not fetched may be fed.
  absl::flat_hash_set<std::string> preserved;
  absl::flat_hash_set<std::string> fetched;
  // dtype and shape of each output of a node, as TensorFlow infers them; empty where not known.
  std::function<std::vector<TensorSpec>(const std::string& node)> outputs;
};

class ProcessGraph {
 public:
  // InvalidArgument for bytes that are no GraphDef, or a graph that contradicts itself.
  static absl::StatusOr<std::unique_ptr<ProcessGraph>> Parse(absl::string_view bytes,
                                                             ProcessGraphOptions options);
  virtual ~ProcessGraph() = default;

  // Ops of the nodes, as the bytes name them. Cheap: before Import, which `graph` needs.
  virtual std::vector<std::string> Ops() const = 0;
  virtual absl::Status Import() = 0;
  virtual Graph& graph() = 0;
  // The whole GraphDef. An error where the rewritten graph cannot be said there: the caller then
  // keeps the graph that it has.
  virtual absl::StatusOr<std::string> Serialize() = 0;
};

// A NodeDef's op, name and attributes (private ones, "_x", only where they are ints).
absl::StatusOr<Node> ParseNodeDef(absl::string_view bytes);
// The ops in an OpList, with how many input and output arguments they have.
struct ProcessOp {
  std::string name;
  int inputs = 0;
  int outputs = 0;
};
absl::StatusOr<std::vector<ProcessOp>> ParseOpList(absl::string_view bytes);
// OpInfo.TensorProperties.
absl::StatusOr<TensorSpec> ParseTensorProperties(absl::string_view bytes);

}  // namespace tenon

#endif  // TENON_PROTO_PROCESS_PROCESS_GRAPH_H_
