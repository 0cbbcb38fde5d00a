// Softmax as it is defined, exp(x - max x) / sum exp(x - max x) over the last axis.
#include "env/status.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status OverLastAxis(const Match& match) {
  const int rank = match.shape("x").has_rank() ? match.shape("x").rank() : -1;
  if (rank < 1) return WhyNot("the rank is not known");
  for (const char* name : {"i", "j"}) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegerValues(*match.constant(name)));
    if (axes.size() != 1 || (axes[0] != -1 && axes[0] != rank - 1)) {
      return WhyNot("it is not over the last axis");
    }
  }
  return absl::OkStatus();
}

const RuleRegistration parts({
    .name = "SoftmaxOfParts",
    .doc = "exp(x - max x) / sum exp(x - max x) over the last axis is softmax(x)",
    .phase = Phase::kFold,
    .pattern = "%i = Const() %j = Const() %m = Max(%x, %i) {keep_dims=true} %d = Sub(%x, %m)"
               " %e = Exp(%d) %s = Sum(%e, %j) {keep_dims=true} %y = RealDiv(%e, %s)",
    .replacement = "%y = Softmax(%x)",
    .when = OverLastAxis,
});

}  // namespace
}  // namespace tenon
