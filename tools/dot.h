// Prints a graph in Graphviz's language, without constants, which would hide the rest.
#ifndef TENON_TOOLS_DOT_H_
#define TENON_TOOLS_DOT_H_

#include <string>

#include "graph/graph.h"

namespace tenon {

std::string DotText(const Graph& graph);

}  // namespace tenon

#endif  // TENON_TOOLS_DOT_H_
