// Shapes of variables in a graph of TensorFlow's.
#ifndef TENON_PROTO_PROCESS_VARIABLE_SHAPES_H_
#define TENON_PROTO_PROCESS_VARIABLE_SHAPES_H_

#include <string>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/process/process_graph.h"

namespace tenon {

// Makes each VariableShape a Const if TensorFlow knows the shape of what a ReadVariableOp reads
// from the same handle, and returns their names. Gradients begin sums for weights with zeros of
// that shape.
absl::StatusOr<HashSet<std::string>> FoldVariableShapes(const ProcessGraphOptions& options,
                                                        tf::GraphDef& graph);

}  // namespace tenon

#endif  // TENON_PROTO_PROCESS_VARIABLE_SHAPES_H_
