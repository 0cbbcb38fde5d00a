// Tensors that loops take items from and write items to, as lists.
#ifndef TENON_GRAPH_REWRITE_TENSOR_LISTS_H_
#define TENON_GRAPH_REWRITE_TENSOR_LISTS_H_

#include "graph_rewrite/context.h"
#include "graph_rewrite/dims.h"

namespace tenon {

// The tensor whose slices are the items of a list, one for each: of TensorListFromTensor, or of
// scattering them into a new list, as TensorFlow 1 does. An endpoint without a node if it is none.
Endpoint TensorOfList(RuleContext& context, Endpoint list);
// Whether the indices are 0, 1, 2 … up to `count`.
bool AreAllIndices(RuleContext& context, Endpoint indices, const Dimension& count);

// Whether all elements of the tensor are 0.
bool IsZeroTensor(RuleContext& context, Endpoint tensor);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_TENSOR_LISTS_H_
