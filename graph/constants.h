// Reads constants of a graph.
#ifndef TENON_GRAPH_CONSTANTS_H_
#define TENON_GRAPH_CONSTANTS_H_

#include "graph/graph.h"

namespace tenon {

// The tensor of a Const node; null for other nodes.
inline const Tensor* ConstantOf(const Node& node) {
  return node.op == "Const" ? node.attr<Tensor>("value") : nullptr;
}

}  // namespace tenon

#endif  // TENON_GRAPH_CONSTANTS_H_
