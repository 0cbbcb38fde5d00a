// Contractions in bfloat16, and with them what stands between them. The graph's inputs and outputs
// keep their dtype; every op whose row does not say that it leads or follows stays in float (sums
// over many elements, exponentials, variables, gradients), behind casts. Norms and softmax read and
// write bfloat16 but compute in float, which is how their kernels work.
#include <vector>

#include "env/status.h"
#include "graph_rewrite/dtype_regions.h"
#include "graph_rewrite/exact_products.h"
#include "graph_rewrite/product_labels.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr const char kConvertRule[] = "ConvertToBfloat16";

RegionRole Bfloat16Role(const OpRow& row) {
  if (row.moves_elements) return RegionRole::kMover;
  switch (row.precision) {
    case PrecisionRole::kLeads:
      return RegionRole::kStart;
    case PrecisionRole::kFollows:
      return RegionRole::kFollower;
    case PrecisionRole::kFloat:
    case PrecisionRole::kAsStated:
      break;
  }
  return RegionRole::kNone;
}

// Whether it averages an image's pixels (NHWC): its kernel sums in float.
bool IsGlobalAverage(RuleContext& context, const Node& n) {
  const Tensor* axes = context.Constant(n.inputs[1]);
  if (axes == nullptr) return false;
  const absl::StatusOr<std::vector<int64_t>> values = IntegerValues(*axes);
  return context.shapes.shape(n.inputs[0]).rank() == 4 && values.ok() &&
         (*values == std::vector<int64_t>{1, 2} || *values == std::vector<int64_t>{2, 1});
}

// Whether it is a product that chooses features, or whose result is compared with something.
bool NeedsAllDigits(const RuleContext& context, const Node& n) {
  if (!IsPlainProduct(n.op)) return false;
  const Tensor* const weights = context.Constant(n.inputs[1]);
  if (weights == nullptr) return false;
  const bool* const transposed = n.attr<bool>(n.op == "MatMul" ? "transpose_b" : "adj_y");
  return IsCompared(context, n.id) ||
         (n.op != "Einsum" && ChoosesTerms(*weights, transposed != nullptr && *transposed));
}

absl::Status ConvertToBfloat16(RuleContext& context) {
  const auto role = [&](NodeId id) {
    const Node& n = context.node(id);
    // With a constant filter the "gradient" is a transposed convolution.
    if (n.op == "Conv2DBackpropInput" && context.Constant(n.inputs[1]) != nullptr) {
      return RegionRole::kStart;
    }
    // Rounding gains little where nothing is summed, and makes phases and coordinates coarse.
    if (SumsOneTerm(context, n) || NeedsAllDigits(context, n)) return RegionRole::kNone;
    if (n.op == "Mean") {
      return IsGlobalAverage(context, n) ? RegionRole::kFollower : RegionRole::kNone;
    }
    return Bfloat16Role(FactsOf(n.op));
  };
  return MoveRegions(context, {kConvertRule, DType::kFloat, DType::kBfloat16, role});
}

const RuleRegistration bfloat16_rule({
    .name = kConvertRule,
    .doc = "contractions, and the ops between them, compute in bfloat16 (--precision bf16)",
    .phase = Phase::kPrecision,
    .sweep = ConvertToBfloat16,
    .keeps_control_inputs = true,
    .repeat = false,
});

}  // namespace
}  // namespace tenon
