// Constants that a graph passes to loops and branches become constants of their functions, so that
// rules there know them: a recurrent layer may split its bias in each step.
#ifndef TENON_GRAPH_REWRITE_CONSTANT_ARGUMENTS_H_
#define TENON_GRAPH_REWRITE_CONSTANT_ARGUMENTS_H_

#include "graph/graph.h"

namespace tenon {

// Of functions that one node calls, which may be in another function. A loop's argument counts if
// every iteration passes it on.
void BindConstantArguments(Graph& graph);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CONSTANT_ARGUMENTS_H_
