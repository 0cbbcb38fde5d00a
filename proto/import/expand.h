// Ops that TensorFlow computes with one kernel and import writes as standard ops, which rules know.
#ifndef TENON_PROTO_IMPORT_EXPAND_H_
#define TENON_PROTO_IMPORT_EXPAND_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

// An attribute of tensor arrays of older versions, which did not begin a flow of their own.
inline constexpr char kWithoutFlow[] = "_without_flow";

// Ops with complete attributes as standard ops: BatchNormWithGlobalNormalization, FusedPadConv2D
// and FusedResizeAndPadConv2D, _UnaryOpsComposition, Conv of images with one batch dimension,
// stacks and tensor arrays of older versions, and ops that are others under an older name. `add` is
// given the nodes before the last and returns their output 0; the last one is returned. Other nodes
// are returned as they are.
absl::StatusOr<Node> Expand(Node node, absl::FunctionRef<absl::StatusOr<Endpoint>(Node)> add);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_EXPAND_H_
