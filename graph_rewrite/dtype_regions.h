// Converts reduced-precision regions: changes the type attribute of the nodes that a rule selects
// from one floating-point dtype to another, and adds casts at the border. The graph's outputs keep
// their dtype. Inside a region nothing is rounded to the old dtype.
#ifndef TENON_GRAPH_REWRITE_DTYPE_REGIONS_H_
#define TENON_GRAPH_REWRITE_DTYPE_REGIONS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph_rewrite/context.h"

namespace tenon {

enum class RegionRole {
  kNone,
  kStart,     // always converted: contractions
  kFollower,  // converted if it reads a converted node's result
  kMover,     // likewise; only moves elements, so it needs no accelerated kernel
};

struct RegionSpec {
  const char* rule;  // rule name, for the steps
  DType from, to;
  absl::FunctionRef<RegionRole(NodeId)> role;
  // Whether to also convert nodes that only the region reads, and to keep followers at the region's
  // end: `to` is the faster dtype for every op with an accelerated kernel.
  bool greedy = false;
  // Whether existing casts between the two dtypes disappear: at the border, and inside together
  // with their rounding.
  bool absorb_casts = false;
};

// An error if a constant cannot be cast.
absl::Status MoveRegions(RuleContext& context, const RegionSpec& spec);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_DTYPE_REGIONS_H_
