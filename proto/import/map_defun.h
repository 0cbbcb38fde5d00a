// MapDefun, a function applied to each row of its arguments, as functions with a While.
#ifndef TENON_PROTO_IMPORT_MAP_DEFUN_H_
#define TENON_PROTO_IMPORT_MAP_DEFUN_H_

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
// condition and body of its loop. Arguments of different numbers of rows are an error.
absl::StatusOr<std::vector<std::unique_ptr<tf::FunctionDef>>> LowerMapDefun(
    const Node& node, const std::string& name);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_MAP_DEFUN_H_
