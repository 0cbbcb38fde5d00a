#include "graph_rewrite/permutation.h"

#include <algorithm>

namespace tenon {

absl::StatusOr<std::vector<int64_t>> PermutationOf(RuleContext& context, const Node& transpose) {
  const Tensor* t = transpose.inputs.size() == 2 ? context.Constant(transpose.inputs[1]) : nullptr;
  if (t == nullptr) return WhyNot("its permutation is not constant");
  absl::StatusOr<std::vector<int64_t>> p = IntegerValues(*t);
  if (!p.ok()) return p;
  std::vector<int64_t> sorted = *p;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return WhyNot("its permutation is none");
  }
  return p;
}

}  // namespace tenon
