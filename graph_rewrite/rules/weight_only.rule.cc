// A product with weights that are stored smaller than floats (graph_rewrite/weight_only.h) reads
// them as they are stored: one row of activations then takes the time to read that many bytes.
#include "graph_rewrite/weight_only.h"

#include <string>
#include <utility>

#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

Outcome FuseWeightOnly(RuleContext& context, NodeId id) {
  const Node& product = context.node(id);
  if (context.Constant(product.inputs[1]) != nullptr) return Outcome::NotMine();
  if (!TakesSmallWeights(context, product)) {
    return Outcome::Skip(0, "it is no product of floats with a matrix", id);
  }
  auto small = FindSmallWeights(context, product);
  if (!small.ok()) return Outcome::Skip(1, std::string(small.status().message()), id);

  Node fused;
  fused.name = product.name;
  fused.op = "_WeightOnlyMatMul";
  fused.device = product.device;
  fused.attrs["T"] = DType::kFloat;
  fused.attrs["Tw"] = small->weights.dtype();
  fused.attrs["Ts"] = small->scales.has_value() ? small->scales->dtype() : DType::kFloat;
  fused.attrs["num_scales"] = int64_t{small->scales.has_value()};
  fused.attrs["num_zeros"] = int64_t{small->zeros.has_value()};
  fused.attrs["bits"] = int64_t{small->bits};
  fused.attrs["group"] = small->group;
  fused.attrs["transposed"] = small->transposed;
  for (const char* name : {"num_args", "fused_ops", "epsilon", "leakyrelu_alpha"}) {
    const auto it = product.attrs.find(name);
    if (it != product.attrs.end()) fused.attrs.insert(*it);
  }
  const std::string hint = context.node(small->constant).name;
  const Endpoint old = product.inputs[1];
  Endpoint weights = small->constant;
  const Tensor* stored = context.Constant(weights);
  if (stored->shape() != small->weights.shape()) {
    weights = {context.AddConst(hint, std::move(small->weights)), 0};
  }
  fused.inputs = {product.inputs[0], weights};
  for (auto* parameters : {&small->scales, &small->zeros}) {
    if (!parameters->has_value()) continue;
    fused.inputs.push_back({context.AddConst(hint + "/scale", *std::move(*parameters)), 0});
  }
  fused.inputs.insert(fused.inputs.end(), product.inputs.begin() + 2, product.inputs.end());
  const auto made = context.AddNode(std::move(fused));
  if (!made.ok()) return Outcome::Skip(2, std::string(made.status().message()), id);
  context.rw.ReplaceNode(id, {*made, 0});
  context.RemoveIfDead(old.node);
  return Outcome::Fired();
}

const RuleRegistration fuse({
    .name = "FuseWeightOnly",
    .doc = "a product reads weights as they are stored (bfloat16, half, 8-bit or 4-bit integers "
           "with scales) instead of expanding them to floats",
    .phase = Phase::kFuse,
    .dtypes = "float",
    .anchors = "MatMul|_FusedMatMul|BatchMatMulV2|_FusedBatchMatMulV2",
    .apply = FuseWeightOnly,
    .last = true,
});

}  // namespace
}  // namespace tenon
