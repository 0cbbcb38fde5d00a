// The functions of a graph's library that its nodes still call.
#ifndef TENON_GRAPH_FUNCTIONS_H_
#define TENON_GRAPH_FUNCTIONS_H_

#include "absl/functional/function_ref.h"
#include "graph/graph.h"

namespace tenon {

// The functions that nodes of the graph call: its own library, or else `outer`, that of the graph
// which has it as a function.
inline const FunctionLibrary& LibraryOf(const Graph& graph, const FunctionLibrary& outer) {
  return graph.functions().empty() ? outer : graph.functions();
}

// Calls visit on each function that an attribute of the node names.
void ForEachNamedFunction(const Node& node, absl::FunctionRef<void(const FuncRef&)> visit);

// Removes the functions that neither the graph nor a function that it calls names.
void DropUnusedFunctions(Graph& graph);

}  // namespace tenon

#endif  // TENON_GRAPH_FUNCTIONS_H_
