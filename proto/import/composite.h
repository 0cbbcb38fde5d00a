// Sparse, ragged and other composite tensors in signatures.
#ifndef TENON_PROTO_IMPORT_COMPOSITE_H_
#define TENON_PROTO_IMPORT_COMPOSITE_H_

#include "proto/messages/tenon_saved_model.pb.h"

namespace tenon {

// Replaces each composite entry `x` of the graph's signatures by an entry for each of its tensors:
//   ragged: x/values and x/row_splits, or x/row_splits_0, x/row_splits_1 and so on;
//   sparse: x/indices, x/values and x/dense_shape;
//   any other: x/0, x/1 and so on.
void ExpandComposites(tf::MetaGraphDef& graph);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_COMPOSITE_H_
