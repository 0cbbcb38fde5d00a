// Distances of points from centers (k-means, radial basis functions, codebooks):
//
//   sum((x - c)^2) over the last axis,
//
// where x and c are broadcast together, so that the differences are many more than both.
#include "env/status.h"
#include "graph_rewrite/last_axis.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status OverTheLastAxis(const Match& match) {
  TENON_ASSIGN_OR_RETURN(const LastAxis axis, LastAxisOf(match, "q"));
  return IsLastAxis(*match.constant("i"), axis);
}

// Before constants are folded, so that a difference from one does not become a sum.
const RuleRegistration squares({
    .name = "SumOfSquaredDifferences",
    .doc = "sum(square(x - c)) is sum(squared_difference(x, c))",
    .phase = Phase::kClean,
    .pattern = "%d = Sub(%x, %c) %q = Square(%d) %y = Sum(%q, %i)",
    .replacement = "%q = SquaredDifference(%x, %c) %y = Sum(%q, %i) {keep_dims=@y.keep_dims}",
});

const RuleRegistration squared_distance({
    .name = "FuseSquaredDistance",
    .doc = "the sum of squared differences over the last axis",
    .phase = Phase::kFuse,
    .pattern = "%i = Const() %q = SquaredDifference(%x, %c) %y = Sum(%q, %i)",
    .replacement = "%y = _SquaredDistance(%x, %c) {keep_dims=@y.keep_dims}",
    .dtypes = "float",
    .when = OverTheLastAxis,
});

}  // namespace
}  // namespace tenon
