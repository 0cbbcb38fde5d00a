// Keras splits what a dense layer gives into heads before it adds the bias, which has the shape of
// the heads:
//
//   reshape(matmul(x, W), [..., H, D]) + b[H, D]  =  reshape(matmul(x, W) + reshape(b, [H D]), ...)
//
// so that the bias directly follows the contraction.
#include <utility>

#include "graph_rewrite/contraction.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status SplitsLastDimension(const Match& match) {
  const Endpoint product = match.at("m");
  if (product.port != 0 || !IsContraction(match.context().node(product).op)) {
    return WhyNot("no contraction gives its operand");
  }
  if (match.context().OnlyReader(product.node) != match.node("y").id) {
    return WhyNot("the product has another reader");
  }
  const Shape &wide = match.shape("m"), &split = match.shape("y");
  const Tensor* bias = match.constant("b");
  if (bias == nullptr) return WhyNot("the bias is not constant");
  const Shape& b = bias->shape();
  if (b.rank() < 2) return WhyNot("the bias has no dimensions to join");
  if (!wide.has_rank() || wide.rank() < 2) return WhyNot("the product's rank is not known");
  if (!split.has_rank() || split.rank() <= b.rank()) return WhyNot("the bias has too high a rank");
  for (int i = 1; i <= b.rank(); ++i) {
    if (split.dim(split.rank() - i) != b.dim(b.rank() - i)) return WhyNot("the bias is broadcast");
  }
  if (wide.dim(wide.rank() - 1) != bias->num_elements()) {
    return WhyNot("the Reshape does not split the last dimension");
  }
  return absl::OkStatus();
}

absl::Status JoinBias(const Match& match, Replacement& replacement) {
  const Tensor& bias = *match.constant("b");
  TENON_ASSIGN_OR_RETURN(Tensor joined, bias.Reshaped(Shape({bias.num_elements()})));
  replacement.SetConst("joined", std::move(joined));
  return absl::OkStatus();
}

const RuleRegistration bias_before_reshape({
    .name = "BiasBeforeReshape",
    .doc = "a bias that is added after a Reshape has split the last dimension of a product is "
           "added before it",
    .phase = Phase::kFold,
    .pattern = "%y = Reshape(%m, %s) %b = Const() %z = AddV2|Add(%y, %b)",
    .replacement = "%sum = AddV2(%m, %joined) %z = Reshape(%sum, %s)",
    .when = SplitsLastDimension,
    .fold = JoinBias,
});

}  // namespace
}  // namespace tenon
