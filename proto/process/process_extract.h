// Copies a part of the original graph into a GraphDef of its own.
#ifndef TENON_PROTO_PROCESS_PROCESS_EXTRACT_H_
#define TENON_PROTO_PROCESS_PROCESS_EXTRACT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "proto/process/process_graph.h"
#include "proto/process/process_write.h"

namespace tenon {

// See ProcessGraph::Extract. `originals` by NodeId of `graph`, which is as it was imported.
absl::StatusOr<ProcessExtract> ExtractPart(const Graph& graph,
                                           const std::vector<ProcessOriginal>& originals,
                                           const ProcessPart& part);

}  // namespace tenon

#endif  // TENON_PROTO_PROCESS_PROCESS_EXTRACT_H_
