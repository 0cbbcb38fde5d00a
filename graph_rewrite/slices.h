// Ops that take one index of one axis.
#ifndef TENON_GRAPH_REWRITE_SLICES_H_
#define TENON_GRAPH_REWRITE_SLICES_H_

#include <cstdint>
#include <optional>

#include "graph_rewrite/context.h"

namespace tenon {

// Index `index` along `axis` of `source`; the axis is gone from the result. Neither is negative.
struct IndexedAxis {
  Endpoint source;
  int axis = 0;
  int64_t index = 0;
};

// What `e` is, if it is an output of Unpack or a StridedSlice such as x[:, 3], and
// a candidate.
std::optional<IndexedAxis> FindIndexedAxis(RuleContext& context, Endpoint e);

// Adds a StridedSlice that takes this index; its dtype is `source`'s.
Endpoint AddIndexedAxis(RuleContext& context, const IndexedAxis& of);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_SLICES_H_
