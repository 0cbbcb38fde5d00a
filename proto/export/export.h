// Writes a graph as a GraphDef file or a SavedModel, for Netron, TensorBoard, diffing, or
// TensorFlow itself.
//
//   TENON_RETURN_IF_ERROR(ExportGraph(model.graph, "frozen.pb", {}));
//
// Private ops (`_MklNativeConv2D`, `_FusedConv2D` ...) exist in this process only, so a graph that
// has any is refused unless the caller only wants to look at it.
#ifndef TENON_PROTO_EXPORT_EXPORT_H_
#define TENON_PROTO_EXPORT_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

enum class GraphFormat { kBinary, kText };

struct ExportOptions {
  GraphFormat format = GraphFormat::kBinary;
  bool allow_private = false;
};

// The file appears whole or not at all. FailedPrecondition naming the private ops.
absl::Status ExportGraph(const Graph& graph, const std::string& path, const ExportOptions& options);

// A SavedModel folder with the graph under "serve" and its inputs and outputs as serving_default.
// It appears whole or not at all: FailedPrecondition also where something is there already.
absl::Status ExportSavedModel(const Graph& graph, const std::string& folder);

// The text form as a string. `options.format` is not looked at.
absl::StatusOr<std::string> GraphDefText(const Graph& graph, const ExportOptions& options);

}  // namespace tenon

#endif  // TENON_PROTO_EXPORT_EXPORT_H_
