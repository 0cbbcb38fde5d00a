// Loads TensorFlow models: SavedModel directories and GraphDef files, binary or text.
//
//   TENON_ASSIGN_OR_RETURN(Model model, LoadModel("resnet50", {}));
//   for (const GraphInput& input : model.graph.inputs()) ...
//
// In the result, inputs are Placeholder nodes; variables that are only read are Const nodes (large
// values view the mapped file); variables that the model changes stay VarHandleOp with a note of
// their value in the checkpoint (kernels/state/variable.h); function calls are inlined; and the
// functions that control-flow ops name are in graph.functions(). Only nodes that the outputs need
// are imported. Attributes have their defaults filled in.
#ifndef TENON_PROTO_IMPORT_MODEL_H_
#define TENON_PROTO_IMPORT_MODEL_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

struct LoadOptions {
  // SavedModel: the signature; by default `serving_default`, or the only one.
  std::string signature;
  // SavedModel: the MetaGraph with exactly these tags; by default {"serve"}, or the only one.
  std::vector<std::string> tags;
  // Outputs to compute: tensors ("y:0", "y"), in a SavedModel also keys of the signature's outputs.
  // Default: the signature's outputs; in a GraphDef, the outputs of all nodes that no node reads.
  std::vector<std::string> fetches;
  // Tensors that the caller provides. Default: the signature's inputs; in a GraphDef, the
  // Placeholders.
  std::vector<std::string> feeds;
  // Keep ops that Tenon does not have in the graph, for inspection; see Model::missing_ops.
  bool allow_missing_ops = false;
  // Verify the checksums of the variables' data. Those of the index are always verified.
  bool verify_checksums = false;
};

struct Model {
  // inputs() and outputs() have the signature's keys, sorted. In a GraphDef, inputs are named "x",
  // and outputs are named as in `fetches`, or "y:0".
  Graph graph;
  std::string source;                   // the path
  std::string format;                   // "SavedModel", "GraphDef" or "GraphDef text"
  std::string signature;                // the one that was loaded; empty for a GraphDef
  std::vector<std::string> signatures;  // all that the SavedModel has, sorted
  std::vector<std::string> tags;        // of the MetaGraph
  // With allow_missing_ops: the nodes of each op that Tenon does not have.
  absl::btree_map<std::string, std::vector<std::string>> missing_ops;
};

// Errors name the file, and the node if there is one: NotFound (no such file, signature or tag),
// InvalidArgument (damaged or contradictory), Unimplemented (lists all ops that Tenon does not
// have).
absl::StatusOr<Model> LoadModel(const std::string& path, const LoadOptions& options);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_MODEL_H_
