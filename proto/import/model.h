// Loads TensorFlow models: SavedModel directories and GraphDef files, binary or text; or only tells
// what they take and give.
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
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "graph/tensor.h"

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
  // Placeholders, and the PlaceholderWithDefaults of constants other than single bools.
  std::vector<std::string> feeds;
  // Tensors that the caller provides besides those. An inner tensor cuts the graph: what only it
  // needed is not imported. A tensor that no output needs may be provided too.
  std::vector<std::string> more_feeds;
  // Keep ops that Tenon does not have in the graph, for inspection; see Model::missing_ops.
  bool allow_missing_ops = false;
  // Verify the checksums of the variables' data. Those of the index are always verified.
  bool verify_checksums = false;
  // Map the variables' files: loading costs no time, and processes share the memory. Otherwise
  // large values are copied, and the files may become shorter while the model is in use
  // (docs/FAULTS.md).
  bool map_files = true;
};

// What callers know of a model beside its graph.
struct ModelInterface {
  // By output, as the signature states it.
  std::vector<Shape> output_shapes;
  // A GraphDef's placeholders that no output needs. TensorFlow lets callers feed them.
  std::vector<std::string> unneeded;
  // The values of inputs that callers may omit, by name: PlaceholderWithDefaults of constants.
  std::vector<std::pair<std::string, Tensor>> defaults;
};

struct Model {
  // inputs() and outputs() have the signature's keys, sorted. In a GraphDef, inputs are named "x",
  // and outputs are named as in `fetches`, or "y:0".
  Graph graph;
  ModelInterface interface;
  std::string source;                   // the path
  std::string format;                   // "SavedModel", "GraphDef" or "GraphDef text"
  std::string signature;                // the one that was loaded; empty for a GraphDef
  std::vector<std::string> signatures;  // all that the SavedModel has, sorted
  std::vector<std::string> tags;        // of the MetaGraph
  // With allow_missing_ops: the nodes of each op that Tenon does not have.
  OrderedMap<std::string, std::vector<std::string>> missing_ops;
};

// Errors name the file, and the node if there is one: NotFound (no such file, signature or tag),
// InvalidArgument (damaged or contradictory), Unimplemented (lists all ops that Tenon does not
// have).
absl::StatusOr<Model> LoadModel(const std::string& path, const LoadOptions& options);
// From memory: the bytes of a GraphDef, or of a saved_model.pb without variables and assets (those
// are files of their own: FailedPrecondition). Nothing refers to the bytes afterwards.
absl::StatusOr<Model> ParseModel(absl::string_view bytes, const LoadOptions& options);

// A tensor of a signature.
struct SignatureTensor {
  std::string name;               // the key; in a GraphDef, as in Model::graph
  std::string tensor;             // "serving_default_x:0"
  DType dtype = DType::kInvalid;  // kInvalid: not stated
  Shape shape = Shape::Unknown();
  bool optional = false;  // has a constant default
};

struct SignatureInfo {
  std::string name;                              // empty for a GraphDef
  std::string method;                            // "tensorflow/serving/predict"; often empty
  std::vector<SignatureTensor> inputs, outputs;  // sorted by name; in a GraphDef, in its order
};

struct ModelInfo {
  std::string format;             // as in Model
  std::vector<std::string> tags;  // of the MetaGraph
  // Sorted by name. A GraphDef has one: its placeholders, and the tensors that no node reads.
  std::vector<SignatureInfo> signatures;
  int default_signature = -1;  // the one that is loaded if none is named; -1: none
};

// Reads the graph but no variables. Errors as in LoadModel; ops that Tenon does not have are none.
absl::StatusOr<ModelInfo> InspectModel(const std::string& path, const LoadOptions& options);
absl::StatusOr<ModelInfo> InspectParsed(absl::string_view bytes, const LoadOptions& options);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_MODEL_H_
