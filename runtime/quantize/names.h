// Names for a graph that is written as a GraphDef.
#ifndef TENON_RUNTIME_QUANTIZE_NAMES_H_
#define TENON_RUNTIME_QUANTIZE_NAMES_H_

#include "graph/graph.h"

namespace tenon {

// Names input and output nodes after their signature's keys, or so that they are found by the
// tensors' names ("scores:0") as before: a GraphDef has no signature.
void NameByKeys(Graph& graph);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_NAMES_H_
