// Loads TensorFlow models: SavedModel directories and GraphDef files, binary or text.
//
//   TENON_ASSIGN_OR_RETURN(Model model, LoadModel("resnet50", {}));
//   for (const GraphInput& input : model.graph.inputs()) ...
//
// What comes out: inputs are Placeholder nodes, variables that are only read are Const nodes (large
// values view the mapped file), those that the model changes stay VarHandleOp with their value in
// the checkpoint noted (kernels/state/variable.h), function calls are inlined, and the functions
// that control-flow ops name are in graph.functions(). Only what the outputs need is imported.
// Attributes have their defaults.
#ifndef TENON_PROTO_IMPORT_MODEL_H_
#define TENON_PROTO_IMPORT_MODEL_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

struct LoadOptions {
  // SavedModel: the signature; default `serving_default`, else the only one.
  std::string signature;
  // SavedModel: the MetaGraph with exactly these tags; default {"serve"}, else the only one.
  std::vector<std::string> tags;
  // Outputs to compute: tensors ("y:0", "y"), in a SavedModel also keys of the signature's outputs.
  // Default: the signature's outputs; in a GraphDef the outputs of all nodes that no node reads.
  std::vector<std::string> fetches;
  // Tensors that the caller gives. Default: the signature's inputs; in a GraphDef the Placeholders.
  std::vector<std::string> feeds;
  // Leave ops that Tenon does not have in the graph, to look at it; see Model::missing_ops.
  bool allow_missing_ops = false;
  // Check the variables' data against its checksums. The index's are always checked.
  bool verify_checksums = false;
};

struct Model {
  // inputs() and outputs() carry the signature's keys, sorted; in a GraphDef inputs are named "x",
  // outputs as the caller wrote them in `fetches`, or "y:0".
  Graph graph;
  std::string source;                   // the path
  std::string format;                   // "SavedModel", "GraphDef" or "GraphDef text"
  std::string signature;                // the one that was loaded; empty for a GraphDef
  std::vector<std::string> signatures;  // all that the SavedModel has, sorted
  std::vector<std::string> tags;        // of the MetaGraph
  // With allow_missing_ops: the nodes of each op that Tenon does not have.
  absl::btree_map<std::string, std::vector<std::string>> missing_ops;
};

// Errors name the file, and the node where there is one: NotFound (no file, signature, tag),
// InvalidArgument (damaged or contradictory), Unimplemented (ops that Tenon does not have, all of
// them at once).
absl::StatusOr<Model> LoadModel(const std::string& path, const LoadOptions& options);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_MODEL_H_
