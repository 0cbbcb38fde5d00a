#include "graph_rewrite/exact_products.h"

#include <algorithm>
#include <vector>

#include "env/containers.h"
#include "graph_rewrite/sequence_lengths.h"
#include "ops/op.h"

namespace tenon {
namespace {

bool Compares(absl::string_view op) {
  return ComparesBySize(op) || op == "Equal" || op == "NotEqual";
}

bool IsComparedFrom(const RuleContext& context, NodeId id, HashSet<NodeId>& seen) {
  if (!seen.insert(id).second) return false;
  const absl::Span<const Use> uses = context.rw.uses(id);
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    if (use.is_control()) return false;
    const Node& reader = context.node(use.reader);
    if (Compares(reader.op)) return true;
    const bool passes = FactsOf(reader.op).moves_elements || reader.op == "Neg" ||
                        (reader.op == "BiasAdd" && context.Constant(reader.inputs[1]) != nullptr) ||
                        ShiftsOrScales(context, reader);
    return passes && IsComparedFrom(context, use.reader, seen);
  });
}

}  // namespace

bool ChoosesTerms(const Tensor& weights, bool transposed) {
  if (weights.dtype() != DType::kFloat || weights.shape().rank() != 2) return false;
  const auto rows = static_cast<size_t>(weights.shape()[0]);
  const auto columns = static_cast<size_t>(weights.shape()[1]);
  const float* w = weights.data<float>();
  std::vector<bool> taken(transposed ? rows : columns, false);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c, ++w) {
      if (*w == 0) continue;
      const size_t result = transposed ? r : c;
      if (taken[result]) return false;
      taken[result] = true;
    }
  }
  return true;
}

bool ShiftsOrScales(const RuleContext& context, const Node& n) {
  // op names: sums and products of two.
  static constexpr absl::string_view kOps[] = {"Add", "AddV2", "Sub", "Mul", "RealDiv"};
  if (std::find(std::begin(kOps), std::end(kOps), n.op) == std::end(kOps)) return false;
  return context.Constant(n.inputs[0]) != nullptr || context.Constant(n.inputs[1]) != nullptr;
}

bool IsCompared(const RuleContext& context, NodeId id) {
  HashSet<NodeId> seen;
  return IsComparedFrom(context, id, seen);
}

}  // namespace tenon
