// Tensors that loops take items from and write items to, as lists.
#ifndef TENON_GRAPH_REWRITE_TENSOR_LISTS_H_
#define TENON_GRAPH_REWRITE_TENSOR_LISTS_H_

#include "graph/shape.h"
#include "graph_rewrite/context.h"
#include "graph_rewrite/dims.h"

namespace tenon {

// The tensor whose slices are the items of a list, one for each: of TensorListFromTensor, or of
// scattering them into a new list, as TensorFlow 1 does. An endpoint without a node if it is none.
Endpoint TensorOfList(RuleContext& context, Endpoint list);
// Whether the indices are 0, 1, 2 … up to `count`.
bool AreAllIndices(RuleContext& context, Endpoint indices, const Dimension& count);

// The shape of each tensor in a list, as far as it is known from where the list was made: lists
// keep it through loops, of which it may be a result.
Shape ItemShapeOfList(RuleContext& context, Endpoint list);

// Whether all elements of the tensor are 0.
bool IsZeroTensor(RuleContext& context, Endpoint tensor);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_TENSOR_LISTS_H_
