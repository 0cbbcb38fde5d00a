// Directed spanning trees of greatest score, as in dependency parsing.
#ifndef TENON_KERNELS_TEXT_SPANNING_TREE_H_
#define TENON_KERNELS_TEXT_SPANNING_TREE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Numbers of nodes (int32, [batch]) and scores ([batch, most, most]): score [t, s] is that of the
// arc from s to t, [t, t] that of t as a root; there is none if it is not finite. Outputs: the sums
// of the best trees' scores ([batch]) and the nodes' sources (int32, [batch, most]), a root itself
// and -1 beyond the nodes. A tree has one root, with `forest` at least one. InvalidArgument for
// numbers of nodes out of range, and if there is no tree.
absl::StatusOr<std::unique_ptr<Kernel>> MaxSpanningTreeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_SPANNING_TREE_H_
