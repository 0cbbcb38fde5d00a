// Where a dimension comes from: graphs compute sizes of unknown tensors by Shape and StridedSlice,
// and two such sizes are equal if they lead to the same axis of the same tensor.
#ifndef TENON_GRAPH_REWRITE_DIMS_H_
#define TENON_GRAPH_REWRITE_DIMS_H_

#include <cstdint>

#include "graph_rewrite/context.h"

namespace tenon {

// A number, or axis `axis` of `source`. A default one is unknown, and equals nothing.
struct Dimension {
  int64_t value = -1;
  Endpoint source = {};
  int axis = 0;

  bool known() const { return value >= 0 || source.node != kNoNode; }
  friend bool operator==(const Dimension& a, const Dimension& b) {
    return a.known() && a.value == b.value && a.source == b.source && a.axis == b.axis;
  }
};

// Axis `axis` (not negative) of a tensor.
Dimension DimensionOf(RuleContext& context, Endpoint tensor, int axis);
// Element `index` of an integer vector.
Dimension ElementDimension(RuleContext& context, Endpoint vector, int64_t index);
// The value of an integer scalar.
Dimension ScalarDimension(RuleContext& context, Endpoint scalar);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_DIMS_H_
