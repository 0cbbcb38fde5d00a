// maximum(x, alpha * x). Only for slopes above 0 and up to 1, because a larger one would change the
// positive side.
#include "env/status.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status Slope(const Match& match, Replacement& replacement) {
  const Tensor& k = *match.constant("k");
  if (k.shape().rank() != 0) return WhyNot("alpha is no scalar");
  const double alpha = FloatElement(k, 0);
  // 0 times infinity is NaN.
  if (!(alpha > 0 && alpha <= 1)) {
    return WhyNot(absl::StrCat("alpha is ", alpha, ", not above 0 and at most 1"));
  }
  replacement.SetAttr("y", "alpha", static_cast<float>(alpha));
  return absl::OkStatus();
}

const RuleRegistration leaky_relu({
    .name = "FuseLeakyRelu",
    .doc = "maximum(x, alpha * x) with alpha above 0 and at most 1",
    .phase = Phase::kFuse,
    .pattern = "%k = Const() %m = Mul(%x, %k) %y = Maximum(%x, %m)"
               " || %k = Const() %m = Mul(%x, %k) %y = Maximum(%m, %x)",
    .replacement = "%y = LeakyRelu(%x)",
    .fold = Slope,
});

}  // namespace
}  // namespace tenon
