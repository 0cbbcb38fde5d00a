// Reads nodes of a loop's body: constant operands, and the columns that Split, SplitV and
// StridedSlice take.
#ifndef TENON_GRAPH_REWRITE_BODY_COLUMNS_H_
#define TENON_GRAPH_REWRITE_BODY_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace tenon {

// Why a rule does not apply to a loop: what its body's node `n` is or does.
absl::Status WhyNotInBody(const Node& n, absl::string_view reason);

// The tensor of a Const; null for other nodes.
const Tensor* ConstantIn(const Graph& g, Endpoint e);
// The integer of a Const with one element; `fallback` for other nodes.
int64_t IntegerIn(const Graph& g, Endpoint e, int64_t fallback);

struct Columns {
  int64_t begin = 0;
  std::vector<int64_t> sizes;  // of parts side by side
};
// The columns that a Split, SplitV or StridedSlice takes from a tensor of rank 1 or 2 whose last
// axis they are, `width` long. FailedPrecondition with the reason if it takes something else.
absl::StatusOr<Columns> ColumnsOf(const Graph& body, const Node& n, int64_t width, int rank);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_BODY_COLUMNS_H_
