// Writes a graph as a GraphDef file or a SavedModel, for Netron, TensorBoard, diffing, or
// TensorFlow itself.
//
//   TENON_RETURN_IF_ERROR(ExportGraph(model.graph, "frozen.pb", {}));
//
// Private ops (`_MklNativeConv2D`, `_FusedConv2D` ...) exist only in this process, so a graph that
// contains any is refused unless the caller only wants to look at it.
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

// Writes the whole file or nothing. FailedPrecondition, naming the private ops, if there are any.
absl::Status ExportGraph(const Graph& graph, const std::string& path, const ExportOptions& options);

// Writes a SavedModel folder with the graph under "serve" and its inputs and outputs as
// serving_default; variables and tables that the graph changes get their values when it is loaded.
// Writes the whole folder or nothing; FailedPrecondition also if it exists already.
absl::Status ExportSavedModel(const Graph& graph, const std::string& folder);

// Writes to a name that says how: a .pb file, a .pbtxt file in text form, or else a SavedModel
// folder. FailedPrecondition for a .pb or .pbtxt of a graph with such variables or tables, which
// holds no values of theirs. CheckExportPath says beforehand whether there is something in the way:
// InvalidArgument if the folder has files.
absl::Status ExportModel(const Graph& graph, const std::string& path);
absl::Status CheckExportPath(const std::string& path);

// A binary GraphDef. FailedPrecondition, naming the private ops, if there are any.
absl::StatusOr<std::string> GraphDefBytes(const Graph& graph);
// The text form as a string. Ignores `options.format`.
absl::StatusOr<std::string> GraphDefText(const Graph& graph, const ExportOptions& options);

}  // namespace tenon

#endif  // TENON_PROTO_EXPORT_EXPORT_H_
