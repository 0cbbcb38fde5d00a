// The graph pass in TensorFlow's process: a GraphDef in, rewritten by the same phases, a GraphDef
// out.
#ifndef TENON_TF_PLUGIN_GRAPH_PASS_H_
#define TENON_TF_PLUGIN_GRAPH_PASS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace tenon::plugin {

// The rewritten graph; empty where there is nothing for Tenon to do. An error leaves the graph as
// it is: the caller hands on what it has.
absl::StatusOr<std::string> RewriteGraphDef(const TF_Buffer& graph, const TF_GrapplerItem* item);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_GRAPH_PASS_H_
