// The functions of a graph's library that its nodes still call.
#ifndef TENON_GRAPH_REWRITE_FUNCTIONS_H_
#define TENON_GRAPH_REWRITE_FUNCTIONS_H_

#include "graph/graph.h"

namespace tenon {

// Removes the functions that neither the graph nor a function that it calls names.
void DropUnusedFunctions(Graph& graph);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_FUNCTIONS_H_
