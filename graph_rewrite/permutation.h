// The permutations of Transposes.
#ifndef TENON_GRAPH_REWRITE_PERMUTATION_H_
#define TENON_GRAPH_REWRITE_PERMUTATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// Of a Transpose node: dimension i of its result is dimension p[i] of its input. FailedPrecondition
// if it is not constant, or no permutation.
absl::StatusOr<std::vector<int64_t>> PermutationOf(RuleContext& context, const Node& transpose);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_PERMUTATION_H_
