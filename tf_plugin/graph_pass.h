// The graph pass in TensorFlow's process: takes a GraphDef, runs the usual phases, returns a
// GraphDef.
#ifndef TENON_TF_PLUGIN_GRAPH_PASS_H_
#define TENON_TF_PLUGIN_GRAPH_PASS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace tenon::plugin {

// The rewritten graph; empty if there is nothing for Tenon to do. After an error, the caller
// returns the graph that it has.
absl::StatusOr<std::string> RewriteGraphDef(const TF_Buffer& graph, const TF_GrapplerItem* item);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_GRAPH_PASS_H_
