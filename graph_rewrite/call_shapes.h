// Shapes across calls of functions: what If, Case and While pass to the functions that they name,
// and what these give back. A loop's shapes are those that hold in every iteration.
#ifndef TENON_GRAPH_REWRITE_CALL_SHAPES_H_
#define TENON_GRAPH_REWRITE_CALL_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"
#include "ops/op.h"

namespace tenon {

// What holds for both: dimensions in which they differ are unknown.
Shape CommonShape(const Shape& a, const Shape& b);

// The specs of the results of `node`, a control-flow op whose functions are in `functions`, for
// inputs of the given specs. Shapes are unknown where nothing can be proven. Takes the nodes that
// it visits off `budget`; when that is spent, nothing is known.
std::vector<TensorSpec> InferCall(const FunctionLibrary& functions, const OpInfo& op,
                                  const Node& node, absl::Span<const TensorSpec> inputs,
                                  int64_t& budget);

// The shapes of the arguments of each of the graph's functions: those that hold in every call by
// nodes of the graph or of its functions. Functions that are called in other ways than by control
// flow are left out.
using ArgumentShapes = HashMap<std::string, std::vector<Shape>>;
ArgumentShapes InferArguments(const Graph& graph);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CALL_SHAPES_H_
