// Comparators of sorts: functions that compare two elements of each tensor, as JAX writes them.
#ifndef TENON_GRAPH_REWRITE_COMPARATOR_H_
#define TENON_GRAPH_REWRITE_COMPARATOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

// A number that the function computes from the first of the two elements, and in the same way from
// the second one.
struct SortKey {
  Endpoint value;           // of the first elements
  bool descending = false;  // the larger number comes first
};

// The keys of a comparator whose inputs are two elements of each tensor in turn: by the first key,
// then among equal ones by the next. Their nodes work element by element. An error tells why there
// are none.
absl::StatusOr<std::vector<SortKey>> SortKeysOf(const Graph& comparator);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_COMPARATOR_H_
