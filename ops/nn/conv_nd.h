// Conv as Conv2D or Conv3D.
#ifndef TENON_OPS_NN_CONV_ND_H_
#define TENON_OPS_NN_CONV_ND_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

// The Conv2D or Conv3D that `conv`, a Conv with complete attributes, is for images with one batch
// dimension. InvalidArgument for groups, and for other numbers of spatial dimensions than 2 and 3.
absl::StatusOr<Node> PlainConv(Node conv);

}  // namespace tenon

#endif  // TENON_OPS_NN_CONV_ND_H_
