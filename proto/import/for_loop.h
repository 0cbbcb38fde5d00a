// For, TensorFlow's first functional loop, as functions with a While.
#ifndef TENON_PROTO_IMPORT_FOR_LOOP_H_
#define TENON_PROTO_IMPORT_FOR_LOOP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

namespace tf {
class FunctionDef;
}  // namespace tf

// A function that takes the node's inputs and gives its outputs, under the name `name`, and the
// condition and body of its loop. The body function of a For takes the counter and the variables
// and gives the variables. As in TensorFlow, a counter that steps away from its limit is an error.
absl::StatusOr<std::vector<std::unique_ptr<tf::FunctionDef>>> LowerFor(const Node& node,
                                                                       const std::string& name);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_FOR_LOOP_H_
