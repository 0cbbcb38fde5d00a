// Moves regions of a graph from one floating dtype to another: the nodes that a rule names change
// their type attribute, and casts stand at the border. Tensors that the graph gives out keep their
// dtype. Inside a region nothing rounds to the dtype that was left.
#ifndef TENON_GRAPH_REWRITE_DTYPE_REGIONS_H_
#define TENON_GRAPH_REWRITE_DTYPE_REGIONS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph_rewrite/context.h"

namespace tenon {

enum class RegionRole {
  kNone,
  kStart,     // always moves: contractions
  kFollower,  // moves along with one whose result it reads
  kMover,     // likewise; moves elements only, so that it needs no accelerated kernel
};

struct RegionSpec {
  const char* rule;  // for the steps
  DType from, to;
  absl::FunctionRef<RegionRole(NodeId)> role;
  // What reads no result of the region but is read by it moves too, and followers at the region's
  // end stay in it: `to` is the faster dtype for whatever has an accelerated kernel.
  bool greedy = false;
  // Existing casts between the two dtypes vanish at the border and, with what they round, inside.
  bool absorb_casts = false;
};

// Errors: a constant that can't be cast.
absl::Status MoveRegions(RuleContext& context, const RegionSpec& spec);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_DTYPE_REGIONS_H_
